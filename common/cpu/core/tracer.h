/** @file tracer.h The seam between the CPU device and the checked flavour, which follows every access and every
 * synchronisation of a grid. The plain flavour has a Tracer that does nothing. */
#pragma once
#include "core/block.h"

namespace cpu {
/// By which way an agent reaches memory: cp.async is generic, copies by TMA and wgmma are not.
enum class Proxy : uint8_t { generic, async };

/// Who acts in a block: a thread, which is known by its rank; later also a unit that copies or multiplies
/// on its own (TMA, wgmma), whose number would follow the threads'.
struct Agent {
    Block &block;
    unsigned number;
    Proxy proxy;
};
inline Agent running_thread() { return {*self->block, self->rank, Proxy::generic}; }

enum Access { READ = 1, WRITE = 2, FLAG = 4, VOLATILE_READ = 5, VOLATILE_WRITE = 6, ATOMIC = 7 }; ///< bits

/// To come: arrivals at an mbarrier and waits for it, with its address; fences between proxies.
enum class Event : uint8_t { commit, wait, block_fence, device_fence, multiply };

struct Tracer {
    virtual void launch_begin(Grid &) {}
    virtual void launch_end(Grid &) {} ///< reports the races
    virtual void block_begin(Block &) {}
    virtual void block_end(Block &) {}
    virtual void access(Agent, Place, const void *, unsigned /*size*/, Access) {}
    virtual void async_issue(Agent, const AsyncCopy &) {}
    virtual void async_land(Agent, const AsyncCopy &) {} ///< and the agent has waited for it
    /// `what`: the groups that a wait leaves in flight; the operations of a multiply.
    virtual void event(Agent, Place, Event, uint64_t /*what*/ = 0) {}
    /// These agents of a block met, and what each wrote before is visible to all.
    virtual void synchronised(Block &, const std::vector<unsigned> & /*agents*/, bool /*whole_block*/) {}
    virtual void converged(Block &, unsigned /*warp*/) {} ///< all its live lanes stand at one place
    virtual void reset_counters() {}
    virtual cpu_counters counters() { return {}; }
    virtual void trace_to(cpu_trace_call *, void * /*context*/) {}
    virtual unsigned counter_lines(const cpu_counter_line **) { return 0; }
};
extern Tracer plain_tracer, *tracer; ///< the latter is the flavour's; the checker puts itself there
} // namespace cpu
