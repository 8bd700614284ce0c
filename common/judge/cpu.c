/* The memory of the CPU device is host memory. */
#include "judge/judge.h"

const struct judge *const judge = &host_judge;
