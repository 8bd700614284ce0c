/* Linked into the programs of variants that say "Verifies: no", with their reason. */
#include "track/gemm/gemm_problem.h"

const char *const gemm_unjudged = UNJUDGED;
