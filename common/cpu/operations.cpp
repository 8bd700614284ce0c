/**
 * @file operations.cpp
 * Asynchronous copies to shared memory (cp.async, its groups and its rules), atomics and fences, and
 * the Tensor Core.
 */
#include "include/cuda_pipeline.h"
#include "include/mma.h"
#include "block.h"

using namespace cpu;

static void land(AsyncCopy &c) {
    memcpy(c.dst, c.src, c.size - c.zfill);
    memset(static_cast<char *>(c.dst) + c.size - c.zfill, 0, c.zfill);
    c.landed = true;
}

void __pipeline_memcpy_async(void *dst, const void *src, size_t size, size_t zfill) {
    Place place = CPU_DEVICE_CALLER;
    if (size != 4 && size != 8 && size != 16)
        return fault(place, "asynchronous copy of %zu bytes: only 4, 8 and 16 exist", size);
    if (zfill > size) return fault(place, "asynchronous copy of %zu bytes zero-fills %zu", size, zfill);
    if (uintptr_t(dst) % size)
        return fault(place, "asynchronous copy of %zu bytes to a misaligned address", size);
    if (uintptr_t(src) % size)
        return fault(place, "asynchronous copy of %zu bytes from a misaligned address", size);
    if (!in_shared(dst, size))
        return fault(place, "asynchronous copy to an address that is not in shared memory");
    unsigned read = unsigned(size - zfill);
    if (read && !in_allocation(src, read))
        return fault(place, "asynchronous copy reads %s", describe_address(src, read).c_str());
    tracer->async_issue(place, dst, src, unsigned(size), read);
    AsyncCopy c{dst, src, unsigned(size), unsigned(zfill), self->group, false, place};
    if (schedule.async == CPU_EITHER ? random_number() % 2 : schedule.async == CPU_LATE)
        memset(dst, poison, size); // until the wait, which is also when the source is read
    else land(c);
    self->copies.push_back(c);
}

void __pipeline_commit() {
    ++self->group;
    preempt();
}

void __pipeline_wait_prior(size_t prior) {
    preempt();
    // Group numbers count up, so copies stand in the order of their groups. The open group is not
    // waited for, even if prior is 0.
    size_t done = 0;
    auto &copies = self->copies;
    for (; done < copies.size() && copies[done].group + prior < self->group; ++done) {
        if (!copies[done].landed) land(copies[done]);
        tracer->async_land(copies[done].dst, copies[done].size);
    }
    copies.erase(copies.begin(), copies.begin() + long(done));
    tracer->event(CPU_DEVICE_CALLER, Event::wait);
}

void cpu::check_copies_at_exit() {
    for (const AsyncCopy &c : self->copies) {
        fault(c.place, c.group == self->group ? "asynchronous copy that was never committed"
                                              : "asynchronous copy that was never waited for");
        tracer->async_land(c.dst, c.size);
    }
    self->copies.clear();
}

// ---- Atomics and fences ----
void cpu::prepare_atomic(Place place, const void *p, unsigned size) {
    preempt(true);
    if (uintptr_t(p) % size)
        fault(place, "atomic of %u bytes at an address that is not a multiple of it", size);
    tracer->access(place, p, size, ATOMIC);
}

// Threads take turns, so memory is always in order: a fence is only a chance for others to run. What
// it orders, and for whom, the checked flavour knows.
static void fence(Place place, Event kind) {
    tracer->event(place, kind);
    preempt(true);
}
void __threadfence_block() { fence(CPU_DEVICE_CALLER, Event::block_fence); }
void __threadfence() { fence(CPU_DEVICE_CALLER, Event::device_fence); }
void __threadfence_system() { fence(CPU_DEVICE_CALLER, Event::device_fence); }
void __nanosleep(unsigned) { let_others_run(); }

// ---- The Tensor Core ----
namespace nvcuda::wmma::detail {
/// Where element e of a lane lies.
struct Layout {
    uint8_t row[32][8], col[32][8];
    constexpr Layout(Form form) : row(), col() {
        for (int lane = 0; lane < 32; ++lane)
            for (int e = 0; e < 8; ++e) {
                int group = lane / 4, in = lane % 4, e0 = e % 2, e1 = e / 2 % 2, e2 = e / 4;
                int r = group + 8 * e1, k = 2 * in + e0 + 8 * e2; // a16 and c
                if (form == a8) r = group + 8 * e0, k = in + 4 * e1;
                if (form == b8) r = in + 4 * e0, k = group + 8 * e1;
                if (form == b16) r = 2 * in + e0 + 8 * e1, k = group + 8 * e2;
                row[lane][e] = uint8_t(r), col[lane][e] = uint8_t(k);
            }
    }
};
static constexpr Layout layouts[] = {a8, b8, b16, c};

template<class E> void transfer(Form form, E *x, E *p, unsigned ldm, bool row_major, bool write) {
    Place place = CPU_DEVICE_CALLER;
    constexpr unsigned unit = 16 / sizeof(E);
    if (uintptr_t(p) % 32) fault(place, "WMMA at an address that is not a multiple of 32 bytes");
    if (ldm % unit) fault(place, "WMMA with a leading dimension of %u: not a multiple of %u", ldm, unit);
    const uint8_t *row = layouts[form].row[lane()], *col = layouts[form].col[lane()];
    bool twos = form == c && row_major; // neighbours, in one instruction
    for (int e = 0; e < elements(form); ++e) {
        E *memory = p + (row_major ? row[e] * size_t(ldm) + col[e] : col[e] * size_t(ldm) + row[e]);
        if (!(twos && e % 2)) tracer->access(place, memory, sizeof(E) << twos, write ? WRITE : READ);
        if (write) *memory = x[e];
        else x[e] = *memory;
    }
}

/// What one lane hands to mma_sync.
template<class E> struct Operands {
    float *d;
    const E *a, *b;
    const float *c;
};

/// For a whole warp. Elements of an exited lane are NaN.
template<class E> static void multiply_lanes(const Meeting &m) {
    constexpr int K = sizeof(E) == 4 ? 8 : 16;
    constexpr const Layout &in_a = layouts[form<matrix_a, K>], &in_b = layouts[form<matrix_b, K>],
                           &in_c = layouts[c];
    float a[16][K], b[K][16], sum[16][16];
    // The Tensor Core does not look at the low 13 bits of tf32, which fp16 and bf16 do not have.
    auto cut_off = [](float x) { return __uint_as_float(__float_as_uint(x) & 0xffffe000); };
    auto operands = [&](int l) { return static_cast<const Operands<E> *>(m.lane[l]); }; // null if absent
    for (int l = 0; l < int(warp_size); ++l) {
        const Operands<E> *lane = operands(l);
        for (int e = 0; e < 8; ++e) sum[in_c.row[l][e]][in_c.col[l][e]] = lane ? lane->c[e] : NAN;
        for (int e = 0; e < K / 2; ++e) {
            a[in_a.row[l][e]][in_a.col[l][e]] = lane ? cut_off(lane->a[e]) : NAN;
            b[in_b.row[l][e]][in_b.col[l][e]] = lane ? cut_off(lane->b[e]) : NAN;
        }
    }
    for (int row = 0; row < 16; ++row)
        for (int k = 0; k < K; ++k)
            for (int col = 0; col < 16; ++col) sum[row][col] += a[row][k] * b[k][col];
    for (int l = 0; l < int(warp_size); ++l)
        for (int e = 0; operands(l) && e < 8; ++e) operands(l)->d[e] = sum[in_c.row[l][e]][in_c.col[l][e]];
    tracer->event(m.place, Event::multiply, 2 * 16 * 16 * K);
}

template<class E> void multiply(float *d, const E *a, const E *b, const float *c) {
    Operands<E> mine{d, a, b, c};
    warp_meet(CPU_DEVICE_CALLER, "mma_sync", ~0u, multiply_lanes<E>, &mine);
}
#define CPU_WMMA(E)                                               \
    template void transfer(Form, E *, E *, unsigned, bool, bool); \
    template void multiply(float *, const E *, const E *, const float *);
CPU_WMMA(float)
CPU_WMMA(__half)
CPU_WMMA(__nv_bfloat16)
} // namespace nvcuda::wmma::detail
