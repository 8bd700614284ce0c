#include "cuda_pipeline.h" // CUDA has its C primitives under this name too
