/** @file scheduler.cpp Runs the blocks of a grid one after the other, and the threads of a block in turns: each
 * until it has to wait. Among those that can run, the one made ready last comes first: a thread gets as far
 * ahead of its neighbours as synchronisation lets it, which is the most hostile order that is legal. */
#include <numeric>
#include "core/tracer.h"

const cpu_schedule cpu_schedules[] = {
    {"forward-late", CPU_FORWARD, CPU_LATE, 0},   {"reverse-late", CPU_REVERSE, CPU_LATE, 0},
    {"forward-early", CPU_FORWARD, CPU_EARLY, 0}, {"reverse-early", CPU_REVERSE, CPU_EARLY, 0},
    {"random-1", CPU_RANDOM, CPU_EITHER, 1},      {"random-2", CPU_RANDOM, CPU_EITHER, 2},
    {"random-3", CPU_RANDOM, CPU_LATE, 3},        {nullptr, CPU_FORWARD, CPU_LATE, 0},
};

void cpu_schedule_set(const cpu_schedule *s) { cpu::next_schedule = *s; }

int cpu_is_checked(void) { return cpu::tracer != &cpu::plain_tracer; }
void cpu_counters_reset(void) { cpu::tracer->reset_counters(); }
void cpu_counters_get(cpu_counters *counters) { *counters = cpu::tracer->counters(); }
unsigned cpu_counter_lines(const cpu_counter_line **lines) { return cpu::tracer->counter_lines(lines); }
void cpu_trace(cpu_trace_call *call, void *context) { cpu::tracer->trace_to(call, context); }

namespace cpu {
Tracer plain_tracer, *tracer = &plain_tracer;
cpu_schedule next_schedule = cpu_schedules[0];

static uint3 unravel(uint64_t n, const dim3 &size) {
    return {unsigned(n % size.x), unsigned(n / size.x % size.y), unsigned(n / size.x / size.y)};
}

Position position(const Grid &grid, unsigned rank, uint64_t block) {
    auto words = [](const uint3 &i) { return "(" + part(i.x) + "," + part(i.y) + "," + part(i.z) + ")"; };
    return {words(unravel(rank, grid.launch.block)), words(unravel(block, grid.launch.grid))};
}

/// One CUDA thread of each block in turn, until the grid is over.
static Fiber thread_body(Fiber &&from) {
    Block &block = *self->block;
    block.scheduler = std::move(from);
    while (!block.grid_is_over) {
        block.grid.launch.run(block.grid.launch.arguments);
        check_copies_at_exit();
        // Nobody waits for it any more.
        unsigned warp = self->rank / warp_size;
        --block.alive;
        block.warp[warp].live &= ~(1u << lane());
        release_barrier_if_complete(block);
        finish_meetings(block, warp);
        leave();
    }
    return std::move(block.scheduler);
}

static void report_deadlock(const Block &block) {
    // By line, not by address: a compiler may have made several calls of one.
    std::map<std::pair<std::string, std::string>, std::vector<const Thread *>> groups;
    for (const Thread &t : block.thread)
        if (t.waits_at && !t.waits_for) groups[{source_line(t.wait_place), t.waits_at}].push_back(&t);
    for (const auto &[key, waiting] : groups) {
        const std::string exited = part(block.threads - block.alive);
        Fault f = {
            FaultKind::deadlock, key.first, {part(waiting.size()), part(block.threads), key.second, exited}};
        f.by = position(block.grid, waiting[0]->rank, block.number);
        report_once(f);
    }
}

/// False if its threads wait for each other for ever.
static bool run_block(Block &block, uint64_t number) {
    Grid &grid = block.grid;
    block.number = number;
    block.index = unravel(number, grid.launch.grid);
    block.alive = block.threads;
    block.barrier = {};
    block.memory_barriers.clear();
    block.ready.clear();
    for (Warp &warp : block.warp) warp.live = 0, warp.meetings.clear();
    std::vector<unsigned> ranks(block.threads);
    for (Thread &t : block.thread) {
        t.group = t.batch = t.spins = 0;
        t.landed = t.tracked = 0;
        t.copies.clear();
        t.collective.clear();
        t.waits_for = nullptr;
        block.warp[t.rank / warp_size].live |= 1u << t.rank % warp_size;
        ranks[t.rank] = t.rank;
    }
    poison_shared(block.shared);
    tracer->block_begin(block);
    make_ready(block, ranks);
    while (block.alive && !block.ready.empty()) {
        if (grid.schedule.order == CPU_RANDOM && grid.random_number() % 4 == 0)
            std::swap(block.ready.back(), block.ready[grid.random_number() % block.ready.size()]);
        self = &block.thread[block.ready.back()];
        block.ready.pop_back();
        self->context = std::move(self->context).resume();
        self = nullptr;
    }
    if (block.alive) report_deadlock(block);
    check_barriers(block);
    tracer->block_end(block);
    return !block.alive;
}

unsigned Grid::random_number() {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return unsigned(random_state >> 33);
}

void make_ready(Block &block, const std::vector<unsigned> &ranks) {
    auto &ready = block.ready;
    cpu_order order = block.grid.schedule.order;
    for (unsigned rank : ranks) block.thread[rank].waits_at = nullptr;
    if (order == CPU_REVERSE) ready.insert(ready.end(), ranks.begin(), ranks.end());
    else ready.insert(ready.end(), ranks.rbegin(), ranks.rend());
    auto added = ready.end() - long(ranks.size());
    if (order == CPU_RANDOM)
        for (size_t i = ranks.size(); i > 1; --i)
            std::swap(added[long(i) - 1], added[block.grid.random_number() % i]);
}

void let_others_run() {
    self->block->ready.push_front(self->rank);
    leave();
}

void preempt(bool may_spin) {
    Grid &grid = self->block->grid;
    // A thread that spins on an atomic must not keep others from ever changing it.
    if ((may_spin && ++self->spins % 256 == 0) ||
        (grid.schedule.order == CPU_RANDOM && grid.random_number() % 2 == 0))
        let_others_run();
}

void run_grid(Grid &grid) {
    const Launch &l = grid.launch;
    uint64_t blocks = uint64_t(l.grid.x) * l.grid.y * l.grid.z, b = 0, step = 1;
    unsigned threads = l.block.x * l.block.y * l.block.z;
    grid.random_state = grid.schedule.seed * 0x9e3779b97f4a7c15u + 1;
    if (grid.schedule.order == CPU_REVERSE) b = step = blocks - 1;
    if (grid.schedule.order == CPU_RANDOM) {
        b = grid.random_number() % blocks;
        // A step that shares no factor with their number visits each block once.
        do step = grid.random_number() % blocks + 1;
        while (std::gcd(step, blocks) != 1);
    }
    Block block = {grid, threads, find_shared(l.dynamic_shared)};
    resident = &block;
    block.thread.resize(threads);
    block.warp.resize((threads + warp_size - 1) / warp_size);
    for (unsigned rank = 0; rank < threads; ++rank)
        block.thread[rank] = {&block, rank, unravel(rank, l.block),
                              block.stacks.make_fiber(rank, thread_body)};
    tracer->launch_begin(grid);
    for (uint64_t i = 0; i < blocks && run_block(block, b); ++i)
        b = (b + step) % blocks; // below 2^63: both are
    tracer->launch_end(grid);
    check_dynamic_shared(block.shared, l.place);
    block.grid_is_over = true;
    for (Thread &t : block.thread) {
        Fiber context = std::move(t.context);
        self = &t;                                               // it may not have begun
        if (context && !t.waits_at) std::move(context).resume(); // returns from thread_body()
        self = nullptr; // the frames of a thread that is stuck are unwound by the destructor
    }
    resident = nullptr;
}

unsigned thread_index(int axis) { return (&self->index.x)[axis]; }
unsigned block_index(int axis) { return (&self->block->index.x)[axis]; }
unsigned block_dim(int axis) { return (&self->block->grid.launch.block.x)[axis]; }
unsigned grid_dim(int axis) { return (&self->block->grid.launch.grid.x)[axis]; }
} // namespace cpu
