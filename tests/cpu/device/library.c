#include "kernels.h"

static _Thread_local volatile int variable[16];

int library_variable(void) { return variable[15]; }
