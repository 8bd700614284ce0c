// The kernel of launch.c: every thread counts itself, and touches the shared memory that it asked for.
#include <stdint.h>

static __global__ void count(unsigned *threads, size_t shared) {
    extern __shared__ char smem[];
    if (shared > 0) smem[shared - 1] = 1;
    atomicAdd(threads, 1u);
}

extern "C" cudaError_t fuzz_allow(int bytes) {
    return cudaFuncSetAttribute(count, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

extern "C" cudaError_t fuzz_launch(const uint32_t *grid, const uint32_t *block, size_t shared,
                                   unsigned *threads) {
    dim3 g(grid[0], grid[1], grid[2]), b(block[0], block[1], block[2]);
    count<<<g, b, shared>>>(threads, shared);
    return cudaGetLastError();
}
