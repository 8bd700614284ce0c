// A sum of THREADS contiguous chunks, each added up one by one, and then the chunks' sums one by one.
#include "reduce.h"

size_t reduce_workspace(size_t n) {
    (void)n;
    return 0;
}

static __global__ void reduce_kernel(size_t n, const float *x, float *sum) {
    __shared__ float sums[THREADS];
    size_t chunk = (n + THREADS - 1) / THREADS, i = threadIdx.x * chunk;
    float mine = 0;
    for (size_t end = i + chunk; i < end && i < n; i++) mine += x[i];
    sums[threadIdx.x] = mine;
    __syncthreads(); // all sums are there before one thread adds them up
    if (threadIdx.x > 0) return;
    for (int t = 1; t < THREADS; t++) mine += sums[t];
    *sum = mine;
}

cudaError_t reduce(size_t n, const float *x, float *sum, void *workspace, cudaStream_t stream) {
    (void)workspace;
    reduce_kernel<<<1, THREADS, 0, stream>>>(n, x, sum);
    return cudaGetLastError();
}
