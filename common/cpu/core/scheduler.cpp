/** @file scheduler.cpp Runs the blocks of a grid one after the other or several in turns, and the threads of a block
 * in turns: each until it has to wait. Among those that can run, the one made ready last comes first: a thread gets as
 * far ahead of its neighbours as synchronisation lets it, which is the most hostile order that is legal.
 *
 * A block's turn lasts until it is over, or until it has told other blocks something or seems to wait for them. Then a
 * new block comes, as long as there is room, or the one that began before it: the earlier one is kept from going on. */
#include <numeric>
#include "core/tracer.h"

const cpu_schedule cpu_schedules[] = {
    {"forward-late", CPU_FORWARD, CPU_LATE, 0, 1},   {"reverse-late", CPU_REVERSE, CPU_LATE, 0, 1},
    {"forward-early", CPU_FORWARD, CPU_EARLY, 0, 1}, {"reverse-early", CPU_REVERSE, CPU_EARLY, 0, 1},
    {"random-1", CPU_RANDOM, CPU_EITHER, 1, 2},      {"random-2", CPU_RANDOM, CPU_EITHER, 2, 4},
    {"random-3", CPU_RANDOM, CPU_LATE, 3, 40},       {nullptr, CPU_FORWARD, CPU_LATE, 0, 1},
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

static void begin_block(Block &block, uint64_t number) {
    Grid &grid = block.grid;
    block.number = number;
    block.index = unravel(number, grid.launch.grid);
    block.alive = block.threads;
    block.barrier = {};
    block.memory_barriers.clear();
    block.ready.clear();
    block.polls = 0;
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
}

/// Runs a block until it is over or gives way. False if its threads wait for each other for ever.
static bool run_turn(Block &block) {
    Grid &grid = block.grid;
    block.gives_way = false;
    while (block.alive && !block.ready.empty() && !block.gives_way) {
        if (grid.schedule.order == CPU_RANDOM && grid.random_number() % 4 == 0)
            std::swap(block.ready.back(), block.ready[grid.random_number() % block.ready.size()]);
        self = &block.thread[block.ready.back()];
        block.ready.pop_back();
        self->context = std::move(self->context).resume();
        self = nullptr;
    }
    if (block.alive && !block.ready.empty()) return true;
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

void tell_blocks(Block &block) {
    block.polls = 0;
    block.gives_way =
        block.gives_way || (block.grid.schedule.resident > 1 && block.grid.random_number() % 4 != 0);
}
void ask_blocks(Block &block) {
    if (++block.polls % 64 == 0) block.gives_way = true;
}

static void step_back() {
    self->block->ready.push_front(self->rank);
    leave();
}

void let_others_run() {
    ask_blocks(*self->block);
    step_back();
}

void preempt(bool may_spin) {
    Grid &grid = self->block->grid;
    // A thread that spins on an atomic must not keep others from ever changing it.
    if (may_spin && ++self->spins % 256 == 0) let_others_run();
    else if (grid.schedule.order == CPU_RANDOM && grid.random_number() % 2 == 0) step_back();
}

/// The places of a grid's blocks: as many as its schedule allows, if there are stacks for their threads.
static std::vector<std::unique_ptr<Block>> make_places(Grid &grid, uint64_t blocks, unsigned threads) {
    const SharedMemory shared = find_shared(grid.launch.dynamic_shared);
    const unsigned together = max_threads / threads; // share stacks
    const uint64_t most = std::min(uint64_t(cpu_is_checked() ? grid.schedule.resident : 1), blocks);
    std::vector<std::unique_ptr<Block>> places;
    for (unsigned i = 0; i < std::min<uint64_t>(most, together * most_stacks); ++i) {
        auto stacks = i % together ? places.back()->stacks : std::make_shared<Stacks>();
        places.emplace_back(new Block{grid, threads, shared, i, stacks, i % together * threads});
        Block &block = *places.back();
        block.thread.resize(threads);
        block.warp.resize((threads + warp_size - 1) / warp_size);
        for (unsigned rank = 0; rank < threads; ++rank)
            block.thread[rank] = {&block, rank, unravel(rank, grid.launch.block),
                                  stacks->make_fiber(block.first_stack + rank, thread_body)};
    }
    return places;
}

/// Lets threads return from thread_body(); the frames of one that is stuck are unwound by the destructor.
static void end_threads(Block &block) {
    block.grid_is_over = true;
    for (Thread &t : block.thread) {
        Fiber context = std::move(t.context);
        self = &t; // it may not have begun
        if (context && !t.waits_at && !block.alive) std::move(context).resume();
        self = nullptr;
    }
}

void run_grid(Grid &grid) {
    const Launch &l = grid.launch;
    uint64_t blocks = uint64_t(l.grid.x) * l.grid.y * l.grid.z, b = 0, step = 1;
    unsigned threads = l.block.x * l.block.y * l.block.z;
    grid.blocks = blocks;
    grid.random_state = grid.schedule.seed * 0x9e3779b97f4a7c15u + 1;
    if (grid.schedule.order == CPU_REVERSE) b = step = blocks - 1;
    if (grid.schedule.order == CPU_RANDOM) {
        b = grid.random_number() % blocks;
        // A step that shares no factor with their number visits each block once.
        do step = grid.random_number() % blocks + 1;
        while (std::gcd(step, blocks) != 1);
    }
    const auto places = make_places(grid, blocks, threads);
    std::vector<Block *> unused, here; // here: in the order in which they began
    for (const auto &place : places) unused.insert(unused.begin(), place.get());
    resident = unused.back();
    tracer->launch_begin(grid);
    size_t turn = 0;
    for (bool right = true; right && (grid.begun < blocks || !here.empty());) {
        const bool fresh = grid.begun < blocks && !unused.empty();
        if (fresh) here.push_back(unused.back()), unused.pop_back();
        turn = (fresh || turn == 0 ? here.size() : turn) - 1;
        Block &block = *here[turn];
        if (&block != resident) {
            if (resident->alive) put_aside(*resident);
            resident = &block;
            if (!fresh) take_again(block);
        }
        if (fresh) {
            begin_block(block, b);
            b = (b + step) % blocks; // below 2^63: both are
            ++grid.begun;
            grid.progress = std::chrono::steady_clock::now();
        }
        right = run_turn(block);
        if (block.alive) continue;
        here.erase(here.begin() + long(turn));
        unused.push_back(&block);
    }
    tracer->launch_end(grid);
    check_dynamic_shared(places[0]->shared, l.place);
    for (const auto &place : places) end_threads(*place);
    resident = nullptr;
}

unsigned thread_index(int axis) { return (&self->index.x)[axis]; }
unsigned block_index(int axis) { return (&self->block->index.x)[axis]; }
unsigned block_dim(int axis) { return (&self->block->grid.launch.block.x)[axis]; }
unsigned grid_dim(int axis) { return (&self->block->grid.launch.grid.x)[axis]; }
} // namespace cpu
