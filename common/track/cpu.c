/* On the CPU device: its memory is host memory, which the plain loops judge, and there is no library. */
#include "judge/judge.h"
#include "track/library.h"

const struct judge *const judge = &host_judge;
const struct gemm_library *const gemm_library = NULL;
vector_library_function *const vector_library = NULL;
