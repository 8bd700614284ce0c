/**
 * @file checker.cpp
 * The checked flavour. GCC's -fsanitize=thread makes compiled kernels call __tsan_read4() and the like,
 * which are here; libtsan itself is not linked. What they and the device tell goes to the race detector
 * and to the counters.
 */
#include "checked/races.h"

namespace cpu {
namespace {
struct Checker final : Tracer {
    void launch_begin(Grid &grid) override { grid.trace = std::make_shared<GridTrace>(); }
    void launch_end(Grid &grid) override { races::report(grid); }
    void block_begin(Block &block) override {
        if (!block.trace) {
            block.trace = std::make_shared<BlockTrace>();
            block.trace->common.resize(block.threads);
            block.trace->agents.resize(block.threads);
            block.trace->logs.resize(block.threads);
        }
        races::begin_block(block);
    }
    void block_end(Block &block) override { count_block(block, false); }
    void access(Agent agent, Place place, const void *p, unsigned size, Access kind) override {
        const Block &block = agent.block;
        if (block.stacks.has(p)) return;
        const bool shared = block.shared.has(p), writes = kind & WRITE;
        if (shared && !block.shared.allows(p, size))
            return fault(place, FaultKind::bounds_shared, block.shared.dynamic_size);
        const ShadowPage &page = races::page_of(block, p);
        if (page.ignored) return;
        if (const char *c = static_cast<const char *>(p); c < page.begin || c + size > page.end) {
            const WrongAddress wrong = describe_address(block.grid.device, p, size);
            fault(place, wrong.kind, writes ? "write" : "read", wrong.words);
        }
        if (counting)
            count_later(agent,
                        kind == ATOMIC ? Op::atomic
                        : writes       ? Op::store
                                       : Op::load,
                        shared, place, shared ? block.shared.offset(p) : uintptr_t(p), size);
        races::access(agent, place, p, size, writes, kind & FLAG);
        if (kind & FLAG) races::use_flag(agent, p, kind & READ, writes);
    }
    void async_issue(Agent agent, const AsyncCopy &c) override {
        const uint64_t to = agent.block.shared.offset(c.dst);
        if (const unsigned read = c.size - c.zfill) {
            if (counting) count_later(agent, Op::copy, false, c.place, uintptr_t(c.src), read, to);
            races::access(agent, c.place, c.src, read, false, false);
        }
        if (counting) count_later(agent, Op::copy, true, c.place, to, c.size);
        races::access(agent, c.place, c.dst, c.size, true, false, in_flight);
    }
    void async_land(Agent agent, const AsyncCopy &c) override { races::land(agent, c.dst, c.size); }
    void event(Agent agent, Place place, Event event, uint64_t what) override {
        if (event == Event::block_fence || event == Event::device_fence)
            races::fence(agent, event == Event::device_fence);
        else if (counting)
            count_later(agent, event == Event::wait ? Op::wait : Op::multiply, false, place, what, 0);
    }
    void synchronised(Block &block, const std::vector<unsigned> &agents, bool whole_block) override {
        races::synchronise(block, agents, whole_block);
        if (whole_block) count_block(block, true);
    }
    void converged(Block &block, unsigned warp) override { count_warp(block, warp); }
    void reset_counters() override { cpu::reset_counters(); }
    cpu_counters counters() override { return sums; }
    unsigned counter_lines(const cpu_counter_line **lines) override { return cpu::counter_lines(lines); }
} checker;

const bool installed = (tracer = &checker, true);
} // namespace
} // namespace cpu

// ---- What compiled kernels call ----
#define TRACE(p, size, kind)                  \
    if (!cpu::Stacks::is_own(p) && cpu::self) \
    cpu::checker.access(cpu::running_thread(), CPU_DEVICE_CALLER, p, size, cpu::kind)
#define CALLBACK(name, size, kind)                              \
    void __tsan_##name##size(void *p) { TRACE(p, size, kind); } \
    void __tsan_unaligned_##name##size(void *p) { TRACE(p, size, kind); }
#define CALLBACKS(size)                          \
    CALLBACK(read, size, READ)                   \
    CALLBACK(write, size, WRITE)                 \
    CALLBACK(volatile_read, size, VOLATILE_READ) \
    CALLBACK(volatile_write, size, VOLATILE_WRITE)
extern "C" {
CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)
void __tsan_read_range(void *p, size_t size) { TRACE(p, unsigned(size), READ); }
void __tsan_write_range(void *p, size_t size) { TRACE(p, unsigned(size), WRITE); }
void __tsan_init() {}
}
