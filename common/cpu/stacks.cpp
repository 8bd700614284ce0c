/**
 * @file stacks.cpp
 * One stack for each CUDA thread, with an inaccessible page below it. They are mapped once and
 * serve every launch; only the fibers on them are new.
 */
#include "block.h"
#include <sys/mman.h>
#include <unistd.h>

namespace cpu {
namespace {

constexpr size_t stack_size = 128 * 1024;
char *stacks;
unsigned guarded; // stacks that have their guard page already

/// Boost.Context's stack allocator for thread `rank`.
struct StackOf {
    unsigned rank;
    boost::context::stack_context allocate() {
        boost::context::stack_context s;
        // Tops at one offset from a page would compete for the same cache sets.
        size_t stagger = rank * 1088 % 8192;
        s.sp = stacks + (rank + 1) * stack_size - stagger;
        s.size = stack_size - stagger - size_t(sysconf(_SC_PAGESIZE));
        return s;
    }
    void deallocate(boost::context::stack_context &) noexcept {}
};

} // namespace

boost::context::fiber make_fiber(unsigned rank, boost::context::fiber (*body)(boost::context::fiber &&)) {
    if (!stacks) {
        void *p = mmap(nullptr, stack_size * max_threads, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) {
            perror("CPU device: no address space for the threads' stacks");
            exit(1);
        }
        stacks = static_cast<char *>(p);
    }
    for (; guarded <= rank; ++guarded)
        mprotect(stacks + guarded * stack_size, size_t(sysconf(_SC_PAGESIZE)), PROT_NONE);
    return boost::context::fiber(std::allocator_arg, StackOf{rank}, body);
}

bool in_stack_guard(const void *p) {
    size_t at = size_t(static_cast<const char *>(p) - stacks);
    return stacks && at < stack_size * max_threads && at % stack_size < size_t(sysconf(_SC_PAGESIZE));
}

} // namespace cpu
