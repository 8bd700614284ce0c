/**
 * @file block.h
 * What the parts of the CPU device share among themselves: the block that runs, its threads and
 * the rules of the schedule. One block runs at a time, on one OS thread.
 */
#pragma once
#include <boost/context/fiber.hpp>
#include <string>
#include <vector>
#include "cpu_device.h"
#include "kernel_side.h"

namespace cpu {

constexpr int poison = 0xff; ///< every byte of it: a NaN in every floating-point format

struct AsyncCopy {
    char *dst;
    const char *src;
    unsigned size, zfill;
    unsigned group;
    bool landed;
    Place place;
};

enum class State : uint8_t { ready, waiting, done };

struct Thread {
    unsigned rank; ///< linear index in the block
    uint3 index;
    State state;
    const char *waits_at; ///< what for, and where, while waiting
    Place wait_place;
    Met met; ///< at the latest block barrier
    unsigned breaths;
    std::vector<AsyncCopy> copies;
    unsigned group;                ///< number of the group that is open
    boost::context::fiber context; ///< where the thread stands while it does not run
};

struct WarpMeeting {
    const char *what;
    Place place;
    unsigned mask, here;
    WarpWork work;
    bool orders_memory;
    void *argument[warp_size];
};

struct Block {
    const Launch *launch; ///< null when none is running
    uint3 index;
    unsigned threads, alive;
    Thread thread[max_threads];
    std::vector<unsigned> at_barrier; ///< ranks
    unsigned votes;
    Place barrier_place;
    unsigned live[max_threads / warp_size]; ///< lanes of each warp that have not exited
    std::vector<WarpMeeting> meetings[max_threads / warp_size];
};
extern Block block;
extern Thread *self; ///< the thread that runs; null in the scheduler and outside a launch

// ---- scheduler.cpp ------------------------------------------------------------------------------
extern cpu_schedule schedule;
unsigned random_number();
void make_ready(const unsigned *ranks, unsigned n);
/// Lets the scheduler choose who runs next; the running thread waits or was made ready again.
void leave();
/// Leaves the running thread until somebody calls make_ready() on it.
void wait_here(const char *what, Place place);
/// Under a random order, lets others run first now and then.
void preempt();
/// Runs every thread of every block of a launch. On a worker thread of its own.
void run_grid(const Launch &launch);
std::string where(unsigned rank); ///< "thread (1,0,0) of block (2,0,0)"

// ---- meet.cpp, async_copy.cpp -------------------------------------------------------------------
void release_barrier_if_complete();
void release_meetings_if_complete(unsigned warp);
void check_copies_at_exit();

// ---- memory.cpp ---------------------------------------------------------------------------------
void *allocate(size_t size);
bool release(void *p); ///< false if p is no allocation
bool in_allocation(const void *p, size_t size);
bool is_device_pointer(const void *p);
void available_memory(size_t *available, size_t *total);
/// Reports bytes beside an allocation that were overwritten since the last check.
void check_canaries(Place place);
/// What lies at an address that faulted, such as "64 bytes past the end of ...".
std::string describe_address(const void *p, size_t size);

// ---- shared.cpp ---------------------------------------------------------------------------------
bool in_shared(const void *p, size_t size); ///< only inside a launch
void find_shared(); ///< of the calling thread, which becomes the one that runs kernels
void poison_shared();
void check_dynamic_shared(Place place);

// ---- stacks.cpp ---------------------------------------------------------------------------------
boost::context::fiber make_fiber(unsigned rank, boost::context::fiber (*body)(boost::context::fiber &&));
bool in_stack_guard(const void *p);

// ---- faults.cpp, symbols.cpp, crash.cpp ---------------------------------------------------------
/// As fault(), where the line is known already.
void fault_at(const std::string &line, const std::string &message);
std::string source_line(Place place); ///< "04_regblock/kernel.cu:52"
/// As the program's symbols have it, wherever it was loaded; -1 outside of the program.
uintptr_t offset_in_program(const void *address);
/// The first of these places that lies in a kernel rather than in the device itself.
std::string source_line(const Place *places, int n);
/// Runs `work` on a worker thread, and gives up on it when the watchdog's time is over.
void run_on_worker(void (*work)(const Launch &), const Launch &launch);

// ---- runtime.cpp --------------------------------------------------------------------------------
/// Makes an error the last one; cudaSuccess changes nothing.
cudaError_t set_last_error(cudaError_t error);
void forget_last_error();

} // namespace cpu
