/* Sizes of a grid, of a block and of shared memory: the CPU device takes what a GPU takes, and no more. */
#include <string.h>

#include <cuda_runtime_api.h>

#include "cpu_device.h"
#include "fuzz.h"

enum { MOST_SHARED = 227 * 1024 }; /* of a block, on sm_90 */

cudaError_t fuzz_allow(int bytes);
cudaError_t fuzz_launch(const uint32_t *grid, const uint32_t *block, size_t shared, unsigned *threads);

/* The next number of the input: a byte says which small one, which near a limit, or that any follows. */
static uint32_t take(const uint8_t **data, size_t *size) {
    static const uint32_t limits[] = {64, 1024, 49152, 65535, 232448, 0x7fffffff, 0xffffffff};
    uint32_t any = 0;
    if (*size == 0) return 1;
    uint8_t kind = *(*data)++;
    --*size;
    if (kind < 200) return kind % 20;
    if (kind < 242) return limits[(kind - 200) / 6] + (uint32_t)(kind % 6) - 2;
    size_t bytes = *size < sizeof any ? *size : sizeof any;
    memcpy(&any, *data, bytes);
    *data += bytes, *size -= bytes;
    return any;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint32_t grid[3], block[3];
    unsigned *threads, counted = 0;
    for (int i = 0; i < 3; ++i) grid[i] = take(&data, &size), block[i] = take(&data, &size);
    uint32_t shared = take(&data, &size);
    int32_t allowed = (int32_t)take(&data, &size);

    REQUIRE((fuzz_allow(allowed) == cudaSuccess) == (allowed >= 0 && allowed <= MOST_SHARED));
    if (allowed < 0 || allowed > MOST_SHARED) REQUIRE(fuzz_allow(allowed = 48 * 1024) == cudaSuccess);
    cpu_faults_clear();

    bool fits = shared <= (uint32_t)allowed;
    uint64_t in_block = 1, in_grid = 1;
    for (int i = 0; i < 3; ++i) {
        fits = fits && grid[i] > 0 && grid[i] <= (i == 0 ? 0x7fffffffu : 65535u);
        fits = fits && block[i] > 0 && block[i] <= (i == 2 ? 64u : 1024u);
        in_block *= fits ? block[i] : 1, in_grid *= fits ? grid[i] : 1;
    }
    fits = fits && in_block <= 1024;
    if (fits && (in_grid > 4096 || in_grid * in_block > 4096)) return 0; /* right, and too long */
    REQUIRE(cudaMalloc((void **)&threads, sizeof *threads) == cudaSuccess);
    REQUIRE(cudaMemset(threads, 0, sizeof *threads) == cudaSuccess);
    cudaError_t error = fuzz_launch(grid, block, shared, threads);
    REQUIRE((error == cudaSuccess) == fits);
    cpu_faults_clear();
    REQUIRE(cudaMemcpy(&counted, threads, sizeof counted, cudaMemcpyDeviceToHost) == cudaSuccess);
    REQUIRE(counted == (fits ? in_grid * in_block : 0));
    REQUIRE(cudaFree(threads) == cudaSuccess);
    return 0;
}
