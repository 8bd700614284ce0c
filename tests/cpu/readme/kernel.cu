__global__ void fill(int *p) { p[threadIdx.x] = VECTOR; }
extern "C" int run(void) {
    int *p, x[32];
    if (cudaMalloc(&p, sizeof x)) return 1;
    fill<<<1, 32>>>(p);
    if (cudaMemcpy(x, p, sizeof x, cudaMemcpyDeviceToHost)) return 1;
    return x[31] != 4;
}
