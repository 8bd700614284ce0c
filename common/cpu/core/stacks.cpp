/** @file stacks.cpp The stacks of CUDA threads. They are mapped once and serve every launch; only the fibers on
 * them are new. */
#include <sys/mman.h>
#include "core/block.h"

namespace cpu {
static std::vector<char *> unused; // launches come one at a time

Stacks::Stacks() : begin(nullptr) {
    if (!unused.empty()) {
        begin = unused.back();
        unused.pop_back();
        return;
    }
    char *mapped = map_memory(nullptr, size * (max_threads + 1), PROT_READ | PROT_WRITE);
    if (!mapped) exit(1); // map_memory() has said why
    begin = mapped + (size - uintptr_t(mapped) % size);
    for (unsigned i = 0; i < max_threads; ++i) mprotect(begin + i * size, page_size, PROT_NONE);
}
Stacks::~Stacks() { unused.push_back(begin); }

Fiber Stacks::make_fiber(unsigned rank, Fiber (*body)(Fiber &&)) {
    struct Stays { // when the fiber ends
        void deallocate(boost::context::stack_context &) {}
    };
    // Tops at one offset from a page would compete for the same cache sets.
    size_t stagger = rank * 1088 % 8192;
    boost::context::stack_context stack;
    stack.sp = begin + (rank + 1) * size - stagger;
    stack.size = size - stagger - page_size;
    return {std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack), Stays(), body};
}
} // namespace cpu
