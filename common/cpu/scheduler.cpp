/**
 * @file scheduler.cpp
 * Runs the blocks of a grid one after the other, and the threads of a block in turns.
 *
 * A thread runs until it has to wait. Among those that can run, the one made ready last comes
 * first: a thread gets as far ahead of its neighbours as synchronisation lets it, which is the
 * most hostile order that is legal.
 */
#include "block.h"

const cpu_schedule cpu_schedules[] = {
    {"forward-late", CPU_FORWARD, CPU_LATE, 0},   {"reverse-late", CPU_REVERSE, CPU_LATE, 0},
    {"forward-early", CPU_FORWARD, CPU_EARLY, 0}, {"reverse-early", CPU_REVERSE, CPU_EARLY, 0},
    {"random-1", CPU_RANDOM, CPU_EITHER, 1},      {"random-2", CPU_RANDOM, CPU_EITHER, 2},
    {"random-3", CPU_RANDOM, CPU_LATE, 3},        {nullptr, CPU_FORWARD, CPU_LATE, 0},
};

void cpu_schedule_set(const cpu_schedule *s) { cpu::schedule = *s; }

int cpu_is_checked(void) { return cpu::tracer != &cpu::plain_tracer; }
void cpu_counters_reset(void) { cpu::tracer->forget_counters(); }
void cpu_counters_get(cpu_counters *counters, FILE *lines) { cpu::tracer->counters(*counters, lines); }

namespace cpu {
Block block;
Thread *self;
Tracer plain_tracer, *tracer = &plain_tracer;
cpu_schedule schedule = cpu_schedules[0];

static Fiber scheduler; // where the scheduler stands while a thread runs
void leave() { scheduler = std::move(scheduler).resume(); }

static std::deque<unsigned> ready; // the back runs next
static uint64_t random_state;

static uint3 unravel(uint64_t n, const dim3 &size) {
    return {unsigned(n % size.x), unsigned(n / size.x % size.y), unsigned(n / size.x / size.y)};
}

/// One CUDA thread of each block in turn, until the launch is over.
static Fiber thread_body(Fiber &&from) {
    scheduler = std::move(from);
    while (block.launch) {
        block.launch->run(block.launch->arguments);
        check_copies_at_exit();
        exit_thread();
        leave();
    }
    return std::move(scheduler);
}

static void report_deadlock() {
    // By line, not by address: a compiler may have made several calls of one.
    std::map<std::pair<std::string, std::string>, std::vector<const Thread *>> groups;
    for (const Thread &t : block.thread)
        if (t.waits_at) groups[{source_line(t.wait_place), t.waits_at}].push_back(&t);
    for (const auto &[key, waiting] : groups)
        fault(waiting[0]->wait_place,
              "deadlock: %zu of %u threads wait at %s, the first is %s; %u have exited", waiting.size(),
              block.threads, key.second.c_str(), where(waiting[0]->rank, block.number).c_str(),
              block.threads - block.alive);
}

/// False if its threads wait for each other for ever.
static bool run_block(const Launch &l, uint64_t number) {
    block.number = number;
    block.index = unravel(number, l.grid);
    block.alive = block.threads;
    block.at_barrier.clear();
    block.votes = 0;
    ready.clear();
    for (auto &meetings : block.meetings) meetings.clear();
    std::fill(std::begin(block.live), std::end(block.live), 0);
    std::vector<unsigned> ranks(block.threads);
    for (unsigned rank = 0; rank < block.threads; ++rank) {
        Thread &t = block.thread[rank];
        t.group = t.breaths = 0;
        t.copies.clear();
        block.live[rank / warp_size] |= 1u << rank % warp_size;
        ranks[rank] = rank;
    }
    poison_shared();
    tracer->block_begin();
    make_ready(ranks);
    while (block.alive && !ready.empty()) {
        if (schedule.order == CPU_RANDOM && random_number() % 4 == 0)
            std::swap(ready.back(), ready[random_number() % ready.size()]);
        self = &block.thread[ready.back()];
        ready.pop_back();
        self->context = std::move(self->context).resume();
        self = nullptr;
    }
    if (block.alive) report_deadlock();
    tracer->block_end();
    return !block.alive;
}

unsigned random_number() {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return unsigned(random_state >> 33);
}

void make_ready(const std::vector<unsigned> &ranks) {
    for (unsigned rank : ranks) block.thread[rank].waits_at = nullptr;
    if (schedule.order == CPU_REVERSE) ready.insert(ready.end(), ranks.begin(), ranks.end());
    else ready.insert(ready.end(), ranks.rbegin(), ranks.rend());
    auto added = ready.end() - long(ranks.size());
    if (schedule.order == CPU_RANDOM)
        for (size_t i = ranks.size(); i > 1; --i) std::swap(added[long(i) - 1], added[random_number() % i]);
}

void let_others_run() {
    ready.push_front(self->rank);
    leave();
}

void preempt(bool may_spin) {
    // A thread that spins on an atomic must not keep others from ever changing it.
    if ((may_spin && ++self->breaths % 256 == 0) ||
        (schedule.order == CPU_RANDOM && random_number() % 2 == 0))
        let_others_run();
}

void run_grid(const Launch &l) {
    uint64_t blocks = uint64_t(l.grid.x) * l.grid.y * l.grid.z, b = 0, step = 1;
    block.launch = &l;
    block.threads = l.block.x * l.block.y * l.block.z;
    random_state = schedule.seed * 0x9e3779b97f4a7c15u + 1;
    if (schedule.order == CPU_REVERSE) b = step = blocks - 1;
    if (schedule.order == CPU_RANDOM) {
        b = random_number() % blocks;
        // A step that shares no factor with their number visits each block once.
        do step = random_number() % blocks + 1;
        while (std::gcd(step, blocks) != 1);
    }
    find_shared();
    for (Thread &t : block.thread) t.waits_at = nullptr;
    for (unsigned rank = 0; rank < block.threads; ++rank) {
        block.thread[rank].rank = rank;
        block.thread[rank].index = unravel(rank, l.block);
        block.thread[rank].context = make_fiber(rank, thread_body);
    }
    tracer->launch_begin();
    for (uint64_t i = 0; i < blocks && run_block(l, b); ++i) b = (b + step) % blocks; // below 2^63: both are
    tracer->launch_end();
    check_dynamic_shared(l.place);
    block.launch = nullptr;
    for (Thread &t : block.thread) {
        Fiber context = std::move(t.context);
        if (context && !t.waits_at) std::move(context).resume(); // returns from thread_body()
        // The frames of a thread that is stuck are unwound by the destructor.
    }
}

std::string where(unsigned rank, uint64_t number) {
    const uint3 t = block.thread[rank].index, b = unravel(number, block.launch->grid);
    char text[120];
    snprintf(text, sizeof text, "thread (%u,%u,%u) of block (%u,%u,%u)", t.x, t.y, t.z, b.x, b.y, b.z);
    return text;
}

unsigned thread_index(int axis) { return (&self->index.x)[axis]; }
unsigned block_index(int axis) { return (&block.index.x)[axis]; }
unsigned block_dim(int axis) { return (&block.launch->block.x)[axis]; }
unsigned grid_dim(int axis) { return (&block.launch->grid.x)[axis]; }
unsigned lane() { return self->rank % warp_size; }
} // namespace cpu
