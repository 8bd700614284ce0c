/**
 * @file memory.cpp
 * Device memory, shared memory, and the threads' stacks.
 *
 * Device memory. Each allocation ends at an inaccessible page, begins after another, and becomes
 * inaccessible when it is freed. Addresses are never used again.
 *
 *     | guard | lead-in (canary) | the allocation | slack (canary) | guard |
 *             ^ page             ^ 256 bytes                       ^ page
 *
 * Shared memory is the thread-local block of the program, on the worker thread. Only what kernels
 * declare may be thread-local in the program: what else lies ahead of smem is poisoned with it.
 */
#include "block.h"
#include <cxxabi.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

/// Dynamic shared memory. Kernels declare it as `extern __shared__ T smem[]` with any T: the
/// symbol's name does not carry the type.
alignas(1024) thread_local unsigned char smem[cpu::shared_optin];

namespace cpu {
constexpr size_t alignment = 256, stack_size = 128 * 1024;
static const size_t page_size = size_t(sysconf(_SC_PAGESIZE));
static std::map<const char *, Allocation> allocations; // by `mapped_end`
static char *stacks;

/// Null, and a line on stderr, if there is no address space.
static char *map(void *at, size_t size, int access, int more = 0) {
    void *p = mmap(at, size, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | more, -1, 0);
    if (p == MAP_FAILED) perror("CPU device: mmap");
    return p == MAP_FAILED ? nullptr : static_cast<char *>(p);
}
static size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

const Allocation *find_allocation(const void *p) {
    auto at = allocations.upper_bound(static_cast<const char *>(p));
    return at != allocations.end() && p >= at->second.mapped ? &at->second : nullptr;
}

bool in_allocation(const void *p, size_t size) {
    const Allocation *a = find_allocation(p);
    const char *c = static_cast<const char *>(p);
    return a && !a->freed && c >= a->begin && c <= a->end && size <= size_t(a->end - c);
}

void *allocate(size_t size) {
    size_t inside = round_up(size, page_size), guard = page_size;
    char *p = map(nullptr, inside + 2 * guard, PROT_NONE);
    if (!p || !map(p + guard, inside, PROT_READ | PROT_WRITE, MAP_FIXED)) return nullptr;
    memset(p + guard, poison, inside); // the canaries too
    char *begin = p + guard + inside - round_up(size, alignment), *end = p + inside + 2 * guard;
    allocations[end] = {p, begin, begin + size, end, false};
    return begin;
}

bool release(void *p) {
    const Allocation *a = find_allocation(p);
    if (!a || a->begin != p || a->freed) return false;
    check_canaries(nullptr);
    // Gives the memory back and keeps the addresses, so that late accesses are caught.
    map(a->mapped, size_t(a->mapped_end - a->mapped), PROT_NONE, MAP_FIXED);
    return allocations[a->mapped_end].freed = true;
}

void check_canaries(Place place) {
    for (const auto &[key, a] : allocations)
        for (auto [from, to] :
             {std::pair(a.mapped + page_size, a.begin), {a.end, a.mapped_end - page_size}}) {
            if (a.freed) continue;
            char *bad = std::find_if(from, to, [](char c) { return c != char(poison); });
            if (bad != to) fault(place, "write %s", describe_address(bad, 1).c_str());
            std::fill(bad, to, char(poison)); // said once
        }
}

std::string describe_address(const void *p, size_t size) {
    const char *c = static_cast<const char *>(p);
    const Allocation *a = find_allocation(p);
    char text[160];
    if (uintptr_t(p) < 65536)
        snprintf(text, sizeof text, "through a null pointer (address %#zx)", size_t(uintptr_t(p)));
    else if (!a) snprintf(text, sizeof text, "at %p, which is not device memory", p);
    else if (a->freed)
        snprintf(text, sizeof text, "of a device allocation of %zu bytes that was freed", a->size());
    else {
        bool before = c < a->begin, past = c >= a->end;
        ptrdiff_t bytes = before ? a->begin - c : past ? c - a->end : ptrdiff_t(size);
        const char *side = before ? "before the start" : past ? "past the end" : "across the end";
        snprintf(text, sizeof text, "%td bytes %s of a device allocation of %zu bytes", bytes, side,
                 a->size());
    }
    return text;
}

// ---- Shared memory ----
char *shared_begin, *shared_end;

void find_shared() {
    auto thread_locals = [](dl_phdr_info *program, size_t, void *) {
        for (int i = 0; i < program->dlpi_phnum; ++i)
            if (const auto &part = program->dlpi_phdr[i]; part.p_type == PT_TLS) {
                shared_begin = static_cast<char *>(program->dlpi_tls_data);
                shared_end = shared_begin + part.p_memsz;
            }
        return 1; // the first object is the program itself: no need to see the libraries
    };
    dl_iterate_phdr(thread_locals, nullptr);
    memset(smem, poison, sizeof smem);
}

/// What kernels declare comes first, for objects are linked before libraries; behind smem are other variables.
void poison_shared() {
    char *dynamic = reinterpret_cast<char *>(smem);
    memset(shared_begin, poison, size_t(dynamic - shared_begin));
    memset(dynamic, poison, block.launch->dynamic_shared); // the rest stays untouched
}

bool in_shared(const void *p, size_t size) {
    const char *c = static_cast<const char *>(p), *dynamic = reinterpret_cast<char *>(smem);
    if (c >= dynamic && c < dynamic + sizeof smem) return c + size <= dynamic + block.launch->dynamic_shared;
    return c >= shared_begin && c + size <= shared_end;
}

/// A function or a thread-local variable of the program, as readelf of the binutils lists it.
struct Symbol {
    size_t value, size;
    bool thread_local_;
    std::string name, file; ///< no file if it is not local to one
    bool operator<(const Symbol &b) const { return std::tie(name, file) < std::tie(b.name, b.file); }
};

static const std::set<Symbol> &symbols() {
    static std::set<Symbol> all;
    std::string file;
    auto add = [&file](const char *line) {
        size_t at, size;
        char type[16], bind[16], name[4000];
        if (sscanf(line, "%*s %zx %zi %15s %15s %*s %*s %3999s", &at, &size, type, bind, name) != 5) return;
        if (strcmp(type, "FILE") == 0) file = name;
        if (strcmp(type, "TLS") == 0 || strcmp(type, "FUNC") == 0)
            all.insert({at, size, *type == 'T', name, strcmp(bind, "LOCAL") ? "" : file});
    };
    if (all.empty()) ask_binutils("readelf -sW", add);
    return all;
}

/// Variables in a kernel's body are named after it: _ZZ6kernelPfE4tile in _Z6kernelPf. Those in
/// functions that it calls are not counted.
size_t static_shared(const void *kernel) {
    size_t total = 0;
    for (const Symbol &k : symbols())
        if (!k.thread_local_ && k.value == offset_in_program(kernel) && k.name.compare(0, 2, "_Z") == 0)
            for (const Symbol &v : symbols())
                if (std::string prefix = "_ZZ" + k.name.substr(2) + "E";
                    v.thread_local_ && v.file == k.file && v.name.compare(0, prefix.size(), prefix) == 0)
                    total += round_up(v.size, 16);
    return total;
}

std::string memory_name(const void *p) {
    for (const Symbol &v : symbols())
        if (v.thread_local_ && is_shared(p) && shared_offset(p) - v.value < v.size) {
            char *plain = abi::__cxa_demangle(v.name.c_str(), nullptr, nullptr, nullptr);
            std::string name = plain ? plain : v.name; // "kernel(float*)::tile"
            free(plain);
            return name.substr(name.rfind(':') + 1);
        }
    return is_shared(p) ? "shared memory" : "device memory";
}

void check_dynamic_shared(Place place) {
    size_t used = block.launch->dynamic_shared, rest = sizeof smem - used;
    const unsigned char *p = smem + used;
    if (rest == 0 || (*p == poison && memcmp(p, p + 1, rest - 1) == 0)) return;
    while (*p == poison) ++p;
    fault(place, "write to byte %td of smem, beyond the %zu bytes that the launch asked for", p - smem, used);
}

// ---- Stacks: one for each CUDA thread, with an inaccessible page below it. They are mapped once and
// serve every launch; only the fibers on them are new. ----
Fiber make_fiber(unsigned rank, Fiber (*body)(Fiber &&)) {
    if (!stacks) {
        stacks = map(nullptr, stack_size * max_threads, PROT_READ | PROT_WRITE);
        if (!stacks) exit(1); // map() has said why
        for (unsigned i = 0; i < max_threads; ++i) mprotect(stacks + i * stack_size, page_size, PROT_NONE);
    }
    struct Stays { // when the fiber ends
        void deallocate(boost::context::stack_context &) {}
    };
    // Tops at one offset from a page would compete for the same cache sets.
    size_t stagger = rank * 1088 % 8192;
    boost::context::stack_context stack;
    stack.sp = stacks + (rank + 1) * stack_size - stagger;
    stack.size = stack_size - stagger - page_size;
    return {std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack), Stays(), body};
}

bool in_stacks(const void *p, bool guard) {
    size_t at = size_t(static_cast<const char *>(p) - stacks);
    return stacks && at < stack_size * max_threads && (!guard || at % stack_size < page_size);
}
} // namespace cpu
