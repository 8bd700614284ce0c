/**
 * @file block.h
 * What the parts of the CPU device share among themselves: the block that runs, its threads and
 * the rules of the schedule. One block runs at a time, on one OS thread.
 */
#pragma once
#include <algorithm>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>
#include <boost/context/fiber.hpp>
#include "cpu_device.h"
#include "kernel_side.h"

namespace cpu {
using Fiber = boost::context::fiber;
constexpr int poison = 0xff; ///< every byte of it: a NaN in every floating-point format

struct AsyncCopy {
    void *dst;
    const void *src;
    unsigned size, zfill, group;
    bool landed;
    Place place;
};

struct Thread {
    unsigned rank; ///< linear index in the block
    uint3 index;
    const char *waits_at; ///< what for, and where; null unless it waits
    Place wait_place;
    unsigned breaths;
    std::vector<AsyncCopy> copies;
    unsigned group; ///< number of the group that is open
    Fiber context;  ///< where the thread stands while it does not run
};

/// Lanes of a warp that meet, and what each of them brought.
struct Meeting {
    using Work = void (*)(const Meeting &);
    const char *what;
    Place place;
    unsigned mask, here; ///< lanes that are to come, and that have come
    Work work;           ///< what the last one to come does for all
    bool orders_memory;  ///< whether what a lane wrote before becomes visible to the others
    void *lane[warp_size];
};

struct Block {
    const Launch *launch; ///< null when none is running
    uint64_t number;      ///< linear index in the grid
    uint3 index;
    unsigned threads, alive;
    Thread thread[max_threads];
    std::vector<unsigned> at_barrier; ///< ranks
    unsigned votes, voted;            ///< for yes, at the block barrier that goes on and at the latest one
    Place barrier_place;
    unsigned live[max_threads / warp_size]; ///< lanes of each warp that have not exited
    std::vector<Meeting> meetings[max_threads / warp_size];
};
extern Block block;
extern Thread *self; ///< the thread that runs; null in the scheduler and outside a launch

enum Access { READ = 1, WRITE = 2, FLAG = 4, VOLATILE_READ = 5, VOLATILE_WRITE = 6, ATOMIC = 7 }; ///< bits
enum class Event : uint8_t { wait, block_fence, device_fence, multiply };

/// What the checked flavour installs to follow a launch. Calls come from the running thread where
/// one is running. Planned: arrivals and waits of an mbarrier, copies by TMA, wgmma.
struct Tracer {
    virtual void launch_begin() {}
    virtual void launch_end() {} ///< reports the races
    virtual void block_begin() {}
    virtual void block_end() {}
    virtual void access(Place, const void *, unsigned /*size*/, Access) {}
    /// Destination, source, its size and what of it is read: the rest is zero-filled.
    virtual void async_issue(Place, void *, const void *, unsigned, unsigned) {}
    virtual void async_land(const void * /*dst*/, unsigned /*size*/) {}
    virtual void event(Place, Event, unsigned /*operations*/ = 0) {}
    /// These threads met, and what each wrote before is visible to all.
    virtual void synchronised(const std::vector<unsigned> & /*ranks*/, bool /*whole_block*/) {}
    /// All live lanes of a warp stand at one place.
    virtual void converged(unsigned /*warp*/) {}
    virtual void counters(cpu_counters &sums, FILE * /*lines*/) { sums = {}; }
    virtual void forget_counters() {}
};
extern Tracer *tracer, plain_tracer; ///< the latter, which follows nothing, is the plain flavour's

// ---- scheduler.cpp ----
extern cpu_schedule schedule;
unsigned random_number();
void make_ready(const std::vector<unsigned> &ranks);
/// Lets the scheduler choose who runs next; returns when somebody has made the running thread ready again.
void leave();
void let_others_run(); ///< and the running thread when all of them have to wait
/// Under a random order, lets others run now and then; `may_spin`: under any order, sometimes.
void preempt(bool may_spin = false);
/// Runs every thread of every block of a launch. On a worker thread of its own.
void run_grid(const Launch &launch);
std::string where(unsigned rank, uint64_t block); ///< "thread (1,0,0) of block (2,0,0)"

// ---- meet.cpp, operations.cpp ----
/// Waits for every live lane of `mask` to call with the same `what`; then `work`, unless null, ran once.
void warp_meet(Place place, const char *what, unsigned mask, Meeting::Work work, void *mine,
               bool orders_memory = false);
void exit_thread(); ///< of whom the others no longer wait for
void check_copies_at_exit();

// ---- memory.cpp ----
struct Allocation {
    char *mapped, *begin, *end, *mapped_end; ///< guards included, and without them
    bool freed;
    size_t size() const { return size_t(end - begin); }
};
void *allocate(size_t size);
bool release(void *p); ///< false if p is no allocation
/// The allocation, perhaps freed, that p is in or beside; null if there is none.
const Allocation *find_allocation(const void *p);
bool in_allocation(const void *p, size_t size); ///< that lives
/// Reports bytes beside allocations that were overwritten since the last check.
void check_canaries(Place place);
/// What lies at an address that faulted, such as "64 bytes past the end of ...".
std::string describe_address(const void *p, size_t size);

extern char *shared_begin, *shared_end;
inline size_t shared_offset(const void *p) { return size_t(static_cast<const char *>(p) - shared_begin); }
inline bool is_shared(const void *p) { return shared_offset(p) < size_t(shared_end - shared_begin); }
bool in_shared(const void *p, size_t size); ///< and in what the launch asked for
std::string memory_name(const void *p);     ///< the shared variable there, or "device memory"
size_t static_shared(const void *kernel);   ///< bytes of the __shared__ variables in its body
void find_shared(); ///< of the calling thread, which becomes the one that runs kernels
void poison_shared();
void check_dynamic_shared(Place place);

Fiber make_fiber(unsigned rank, Fiber (*body)(Fiber &&));
bool in_stacks(const void *p, bool guard = false); ///< guard: in one of their guard pages

// ---- faults.cpp ----
/// Prints and keeps a fault, with its place, the running thread and the schedule. Once a line and
/// kind (`format`), so that 256 threads make one report.
void fault(Place place, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// As fault(), where the line is known already.
void fault_at(const std::string &line, const std::string &message);
bool has_line(Place place);
std::string source_line(Place place); ///< "04_regblock/kernel.cu:52"
/// Looks up many lines at once: much faster than one by one.
void look_up_lines(const std::vector<Place> &places);
std::string source_text(Place place); ///< what is written in that line
/// Runs a tool of the binutils on this program, and calls `each` for every line that it prints.
void ask_binutils(const std::string &command, const std::function<void(const char *)> &each);
/// As the program's symbols have it, wherever it was loaded.
constexpr uintptr_t outside = ~uintptr_t(0); ///< of the program
uintptr_t offset_in_program(const void *address);
Place place_in_program(uintptr_t offset);
/// Runs the grid on a worker thread, and gives up on it when the watchdog's time is over.
void run_on_worker(const Launch &launch);

// ---- counters.cpp: of the checked flavour ----
enum class Op : uint8_t { load, store, atomic, copy, wait, multiply };
/// Adds what the running thread did to its log, to be made one instruction of its warp. `to`: where in shared
/// memory a copy of global memory goes.
void count_later(Op op, bool shared, Place place, uint64_t address, unsigned size, uint64_t to = 0);
/// Makes warp instructions of the logs of a warp whose lanes have all come to one place, or of all warps.
void count_warp(unsigned warp);
void count_block(bool barrier);
void print_counters(cpu_counters &counters, FILE *lines);
void forget_counters();
} // namespace cpu
