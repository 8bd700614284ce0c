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

/// The last four are of a barrier in memory. To come: fences between proxies.
enum class Event : uint8_t {
    commit,
    wait,
    acquire,
    multiply,
    block_fence,
    device_fence,
    initialise,
    arrive,
    complete,
    pass
};

struct Tracer {
    virtual void launch_begin(Grid &) {}
    virtual void launch_end(Grid &) {} ///< reports the races
    virtual void block_begin(Block &) {}
    virtual void block_end(Block &) {}
    virtual void access(Agent, Place, const void *, unsigned /*size*/, Access) {}
    virtual void async_issue(Agent, const AsyncCopy &) {}
    /// And the agent has waited for it; or whoever waits for this phase of a barrier does.
    virtual void async_land(Agent, const AsyncCopy &, const void * /*barrier*/ = nullptr) {}
    /// `what`: the groups that a wait leaves in flight; the operations of a multiply; a barrier's address.
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
