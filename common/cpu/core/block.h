/** @file block.h A grid that runs, its resident blocks, their threads, and the functions by which they run.
 * All state hangs on these: whoever runs finds it through `self`.
 *
 * A grid runs on one OS thread. Its resident blocks take turns, and shared memory, which is that thread's
 * thread-local memory, is put aside for the next one. */
#pragma once
#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <boost/context/fiber.hpp>
#include "core/device.h"
#include "cpu_device.h"

namespace cpu {
using Fiber = boost::context::fiber;
struct Block;
struct GridTrace; ///< of the checked flavour, see tracer.h
struct BlockTrace;

struct AsyncCopy { ///< on its way
    void *dst;
    const void *src;
    unsigned size, zfill, group, batch; ///< batch: like group, but a barrier that waits for it closes it too
    bool landed;
    Place place;
};

struct Thread {
    Block *block;
    unsigned rank; ///< linear index in the block
    uint3 index;
    Fiber context = {};             ///< where the thread stands while it does not run
    const char *waits_at = nullptr; ///< what for, and where; null unless it waits
    Place wait_place = nullptr;
    unsigned spins = 0, reads = 0; ///< how often it may have waited for another thread in a loop
    std::vector<AsyncCopy> copies = {};
    unsigned group = 0; ///< number of the group that is open
    unsigned batch = 0; ///< and of the batch
    uint64_t landed = 0,
             tracked = 0; ///< of all its copies: how many have left `copies`, and a barrier waits for
    const void *waits_for = nullptr;                                ///< a barrier in memory
    std::map<unsigned, std::pair<unsigned, Place>> collective = {}; ///< copies by groups of a size: how many
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
struct Warp {
    unsigned live; ///< lanes that have not exited
    std::vector<Meeting> meetings;
};

struct Barrier {
    std::vector<unsigned> waiting; ///< ranks
    Place place;
    unsigned votes, voted; ///< for yes, now and when it was last complete
};

/// A barrier in shared memory, such as cuda::barrier, which is known by its address.
struct MemoryBarrier {
    unsigned expected, pending; ///< arrivals: of a phase, and those that the open one still waits for
    uint64_t phase = 0;         ///< number of the open one
    std::vector<unsigned> arrived = {}, waiting = {};       ///< ranks
    std::vector<std::pair<unsigned, uint64_t>> copies = {}; ///< that it waits for: of a rank, up to a number
    std::map<unsigned, uint64_t> waited = {};               ///< up to which phase, by rank
};

/// The shared memory of a block: thread-local memory of its OS thread.
struct SharedMemory {
    char *begin, *end, *dynamic; ///< dynamic: smem, behind the static variables
    size_t dynamic_size;         ///< what the launch asked for
    size_t offset(const void *p) const { return size_t(static_cast<const char *>(p) - begin); }
    bool has(const void *p) const { return offset(p) < size_t(end - begin); }
    size_t used() const {
        return size_t(dynamic - begin) + dynamic_size;
    } ///< behind it nothing is a kernel's
    /// Whether a kernel may use all of it: of dynamic memory, what the launch asked for.
    bool allows(const void *p, size_t size) const {
        const char *c = static_cast<const char *>(p), *last = dynamic + dynamic_size;
        return c >= dynamic && c < dynamic + shared_optin ? c + size <= last : c >= begin && c + size <= end;
    }
};

constexpr unsigned most_stacks =
    20; ///< Stacks at once: Linux allows a process 65,530 mappings, and each takes 2,048
/// The stacks of blocks' threads, each at a multiple of its size, with an inaccessible page below.
struct Stacks {
    char *begin;
    Stacks();
    ~Stacks(); ///< keeps them for the next one
    Stacks(const Stacks &) = delete;
    static constexpr size_t size = 128 * 1024; ///< of one
    bool has(const void *p) const { return uintptr_t(p) - uintptr_t(begin) < size * max_threads; }
    bool has_guard(const void *p) const { return has(p) && uintptr_t(p) % size < page_size; }
    /// Whether it is the stack that the caller runs on: quick, for most accesses of kernels are.
    [[gnu::always_inline]] static bool is_own(const void *p) {
        const char here = 0;
        return (uintptr_t(p) ^ uintptr_t(&here)) < size;
    }
    Fiber make_fiber(unsigned rank, Fiber (*body)(Fiber &&));
};

struct Grid {
    Launch launch;
    Device &device;
    cpu_schedule schedule;
    uint64_t random_state;
    std::shared_ptr<GridTrace> trace;
    uint64_t blocks, begun;                         ///< of them
    std::chrono::steady_clock::time_point progress; ///< when the last of these began
    unsigned random_number();
};

/// A place for a block on the device: blocks of a grid run in it one after the other.
struct Block {
    Grid &grid;
    unsigned threads;
    SharedMemory shared;
    unsigned slot;                  ///< of the grid's places
    std::shared_ptr<Stacks> stacks; ///< of several small blocks; ahead of the threads, whose fibers end first
    unsigned first_stack;
    std::vector<char> aside = {}; ///< its shared memory while it is another's turn
    bool gives_way = false;       ///< at its threads' next stop
    unsigned polls = 0;           ///< how often it may have waited for another block
    uint64_t number = 0;          ///< linear index in the grid
    uint3 index = {};
    bool grid_is_over = false;
    unsigned alive = 0;
    std::vector<Thread> thread = {};
    std::vector<Warp> warp = {};
    std::deque<unsigned> ready = {}; ///< ranks; the back runs next
    Fiber scheduler = {};            ///< where the scheduler stands while a thread runs
    Barrier barrier = {};
    std::map<const void *, MemoryBarrier> memory_barriers = {};
    std::shared_ptr<BlockTrace> trace = {};
};

// Thread-local, and not `thread_local`, which would cost a call. See shared.cpp.
extern __thread Thread *self;    ///< the CUDA thread that runs; null in the scheduler and in host code
extern __thread Block *resident; ///< whose turn it is on this OS thread; null if it runs host code
inline unsigned lane() { return self->rank % warp_size; }

// ---- scheduler.cpp ----
extern cpu_schedule next_schedule; ///< of later launches
void make_ready(Block &block, const std::vector<unsigned> &ranks);
/// Lets the scheduler choose who runs next; returns when somebody has made the running thread ready again.
/// Here, and called from small functions: each return and each cache line behind it costs a miss.
inline void leave() { self->block->scheduler = std::move(self->block->scheduler).resume(); }
void let_others_run(); ///< of the block and, often, of others; then the running thread, which waits in a loop
/// Under a random order, lets others run now and then; `may_spin`: under any order, sometimes.
void preempt(bool may_spin = false);
void tell_blocks(Block &block); ///< it writes what others may wait for: under some schedules its turn ends
void ask_blocks(Block &block);  ///< it reads what it may wait for: often, and its turn ends
/// Runs every thread of every block of a grid, on the calling OS thread.
void run_grid(Grid &grid);
void run_on_worker(Grid &grid); ///< the same on a new OS thread, whose time is limited
Position position(const Grid &grid, unsigned rank, uint64_t block);

// ---- shared.cpp ----
SharedMemory find_shared(size_t dynamic_size); ///< of the calling OS thread
void poison_shared(const SharedMemory &shared);
void put_aside(Block &block); ///< its shared memory
void take_again(Block &block);
void check_dynamic_shared(const SharedMemory &shared, Place place);
size_t static_shared(const void *kernel); ///< bytes of the __shared__ variables in its body
std::string memory_name(const SharedMemory &shared, const void *p); ///< of a variable; "device memory"

// ---- ops/ ----
/// Waits for every live lane of `mask` to call with the same `what`; then `work`, unless null, ran once.
void warp_meet(Place place, const char *what, unsigned mask, Meeting::Work work, void *mine,
               bool orders_memory = false);
void release_barrier_if_complete(Block &block);
void finish_meetings(Block &block, unsigned warp); ///< that wait for no live lane
void check_copies_at_exit();
void copy_async(Place place, void *dst, const void *src, size_t size, size_t zfill);
void land_copies(Thread &thread, size_t count,
                 const void *barrier = nullptr); ///< its oldest; barrier: through which
unsigned batches_in_flight();                    ///< of the running thread
void check_barriers(const Block &block);         ///< at its end: copies that are left, threads that are stuck
} // namespace cpu
