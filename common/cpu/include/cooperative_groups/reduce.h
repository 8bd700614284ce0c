/** @file reduce.h Stand-in for the CUDA header of this name. */
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {
template<class Group, class T, class F> __forceinline__ T reduce(const Group &g, T value, F f) {
    for (unsigned by = 1; by < g.size(); by *= 2) {
        T other = g.shfl_down(value, by);
        if (g.thread_rank() + by < g.size()) value = f(value, other);
    }
    return g.shfl(value, 0);
}
} // namespace cooperative_groups
