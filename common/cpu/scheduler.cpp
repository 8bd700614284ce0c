/**
 * @file scheduler.cpp
 * Runs the blocks of a grid one after the other, and the threads of a block in turns.
 *
 * A thread runs until it has to wait. Among those that can run, the one made ready last comes
 * first: a thread gets as far ahead of its neighbours as synchronisation lets it, which is the
 * most hostile order that is legal.
 */
#include "block.h"
#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <numeric>

const cpu_schedule cpu_schedules[] = {
    {"forward-late", CPU_FORWARD, CPU_LATE, 0},   {"reverse-late", CPU_REVERSE, CPU_LATE, 0},
    {"forward-early", CPU_FORWARD, CPU_EARLY, 0}, {"reverse-early", CPU_REVERSE, CPU_EARLY, 0},
    {"random-1", CPU_RANDOM, CPU_EITHER, 1},      {"random-2", CPU_RANDOM, CPU_EITHER, 2},
    {"random-3", CPU_RANDOM, CPU_LATE, 3},        {nullptr, CPU_FORWARD, CPU_LATE, 0},
};

void cpu_schedule_set(const cpu_schedule *s) { cpu::schedule = *s; }
int cpu_schedule_set_by_name(const char *name) {
    for (const cpu_schedule *s = cpu_schedules; s->name; ++s)
        if (strcmp(s->name, name) == 0) return cpu_schedule_set(s), 0;
    return -1;
}

int cpu_is_checked(void) { return cpu::tracer != &cpu::plain_tracer; }
void cpu_counters_reset(void) { cpu::tracer->forget_counters(); }
void cpu_counters_get(cpu_counters *counters, FILE *lines) {
    *counters = {};
    cpu::tracer->counters(*counters, lines);
}

namespace cpu {
Block block;
Thread *self;
Tracer plain_tracer, *tracer = &plain_tracer;
cpu_schedule schedule = cpu_schedules[0];

static boost::context::fiber scheduler; // where the scheduler stands while a thread runs

void leave() { scheduler = std::move(scheduler).resume(); }

namespace {
std::deque<unsigned> ready; // the back runs next
uint64_t random_state;

void exit_thread() {
    check_copies_at_exit();
    unsigned warp = self->rank / warp_size;
    self->state = State::done;
    --block.alive;
    block.live[warp] &= ~(1u << self->rank % warp_size);
    release_barrier_if_complete(); // barriers do not wait for threads that have exited
    release_meetings_if_complete(warp);
}

/// One CUDA thread of each block in turn, until the launch is over.
boost::context::fiber thread_body(boost::context::fiber &&from) {
    scheduler = std::move(from);
    while (block.launch) {
        block.launch->run(block.launch->arguments);
        exit_thread();
        leave();
    }
    return std::move(scheduler);
}

Thread *next_thread() {
    if (schedule.order == CPU_RANDOM && random_number() % 4 == 0)
        std::swap(ready.back(), ready[random_number() % ready.size()]);
    Thread *t = &block.thread[ready.back()];
    ready.pop_back();
    return t;
}

void begin_block(const Launch &l) {
    block.alive = block.threads;
    block.at_barrier.clear();
    block.votes = 0;
    ready.clear();
    for (unsigned w = 0; w * warp_size < block.threads; ++w) {
        unsigned lanes = std::min(block.threads - w * warp_size, warp_size);
        block.live[w] = lanes == warp_size ? ~0u : (1u << lanes) - 1;
        block.meetings[w].clear();
    }
    unsigned ranks[max_threads];
    std::iota(ranks, ranks + block.threads, 0u);
    for (unsigned rank = 0; rank < block.threads; ++rank) {
        Thread &t = block.thread[rank];
        t.index = {rank % l.block.x, rank / l.block.x % l.block.y, rank / (l.block.x * l.block.y)};
        t.group = t.breaths = 0;
        t.copies.clear();
    }
    poison_shared();
    tracer->block_begin();
    make_ready(ranks, block.threads);
}

void report_deadlock() {
    // By line, not by address: a compiler may have made several calls of one.
    std::map<std::pair<std::string, std::string>, std::vector<unsigned>> groups;
    for (unsigned rank = 0; rank < block.threads; ++rank)
        if (const Thread &t = block.thread[rank]; t.state == State::waiting)
            groups[{source_line(t.wait_place), t.waits_at}].push_back(rank);
    for (const auto &[key, ranks] : groups)
        fault(block.thread[ranks[0]].wait_place,
              "deadlock: %zu of %u threads wait at %s, the first is %s; %u have exited", ranks.size(),
              block.threads, key.second.c_str(), where(ranks[0], linear_block()).c_str(),
              block.threads - block.alive);
}

/// False if its threads wait for each other for ever.
bool run_block(const Launch &l) {
    begin_block(l);
    while (block.alive && !ready.empty()) {
        Thread *t = self = next_thread();
        t->context = std::move(t->context).resume();
        self = nullptr;
    }
    if (block.alive) report_deadlock();
    tracer->block_end();
    return !block.alive;
}
} // namespace

unsigned random_number() {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return unsigned(random_state >> 33);
}

void make_ready(const unsigned *ranks, unsigned n) {
    for (unsigned i = n; i-- > 0;) {
        block.thread[ranks[i]].state = State::ready;
        ready.push_back(ranks[i]);
    }
    auto added = ready.end() - n;
    if (schedule.order == CPU_REVERSE) std::reverse(added, ready.end());
    if (schedule.order == CPU_RANDOM)
        for (unsigned i = n; i > 1; --i) std::swap(added[i - 1], added[random_number() % i]);
}

void wait_here(const char *what, Place place) {
    self->state = State::waiting;
    self->waits_at = what;
    self->wait_place = place;
    leave();
}

static void let_others_run() {
    ready.push_front(self->rank);
    leave();
}

void preempt() {
    if (schedule.order == CPU_RANDOM && random_number() % 2 == 0) let_others_run();
}

void breathe() {
    // A thread that spins on an atomic must not keep others from ever changing it.
    if (++self->breaths % 256 == 0)
        let_others_run();
    else
        preempt();
}

void run_grid(const Launch &l) {
    uint64_t plane = uint64_t(l.grid.x) * l.grid.y, blocks = plane * l.grid.z;
    block.launch = &l;
    block.threads = l.block.x * l.block.y * l.block.z;
    random_state = schedule.seed * 0x9e3779b97f4a7c15u + 1;
    // Random order of blocks: a step that shares no factor with their number visits each once.
    uint64_t first = 0, step = 1;
    if (schedule.order == CPU_REVERSE) first = blocks - 1, step = blocks - 1;
    if (schedule.order == CPU_RANDOM) {
        first = random_number() % blocks;
        do step = random_number() % blocks + 1;
        while (std::gcd(step, blocks) != 1);
    }
    find_shared();
    for (unsigned rank = 0; rank < block.threads; ++rank) {
        block.thread[rank].rank = rank;
        block.thread[rank].state = State::done;
        block.thread[rank].context = make_fiber(rank, thread_body);
    }
    tracer->launch_begin();
    uint64_t b = first;
    for (uint64_t i = 0; i < blocks; ++i) {
        block.index = {unsigned(b % l.grid.x), unsigned(b / l.grid.x % l.grid.y), unsigned(b / plane)};
        if (!run_block(l)) break;
        b = (b + step) % blocks; // below 2^63: both are
    }
    tracer->launch_end();
    check_dynamic_shared(l.place);
    block.launch = nullptr;
    for (unsigned rank = 0; rank < block.threads; ++rank) {
        boost::context::fiber context = std::move(block.thread[rank].context);
        if (block.thread[rank].state == State::done)
            std::move(context).resume(); // returns from thread_body()
        // The frames of a thread that is stuck are unwound by the destructor.
    }
}

uint64_t linear_block() {
    const dim3 &g = block.launch->grid;
    return (uint64_t(block.index.z) * g.y + block.index.y) * g.x + block.index.x;
}

std::string where(unsigned rank, uint64_t b) {
    const uint3 t = block.thread[rank].index;
    const dim3 &g = block.launch->grid;
    char text[120];
    snprintf(text, sizeof text, "thread (%u,%u,%u) of block (%u,%u,%u)", t.x, t.y, t.z, unsigned(b % g.x),
             unsigned(b / g.x % g.y), unsigned(b / (uint64_t(g.x) * g.y)));
    return text;
}

unsigned thread_index(int axis) { return (&self->index.x)[axis]; }
unsigned block_index(int axis) { return (&block.index.x)[axis]; }
unsigned block_dim(int axis) { return (&block.launch->block.x)[axis]; }
unsigned grid_dim(int axis) { return (&block.launch->grid.x)[axis]; }
unsigned lane() { return self->rank % warp_size; }
} // namespace cpu
