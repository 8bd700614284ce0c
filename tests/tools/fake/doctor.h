/* What a made-up build was made with, for a doctor in the tests: see common/tools/doctor.h.in. */
#define BUILT_FROM "source"
#ifdef FAKE_WITHOUT_CUDA
#define BUILT_RUNTIME 0
#define BUILT_WITHOUT_CUDA FAKE_WITHOUT_CUDA
#else
#define BUILT_RUNTIME 13000
#define BUILT_WITHOUT_CUDA ""
#endif
#define BUILT_TOOLKIT "nvcc 13.0.88"
#define BUILT_CUDA_BIN ""
#define BUILT_ARCHITECTURES "80,90-real"
#define BUILT_CMAKE "3.20.0"
#define BUILT_C "cc GNU 12.2.0"
#define BUILT_CXX "c++ GNU 12.2.0"
#define CPU_DEVICE_CHECKED 0
#define BUILD_TESTING 1
