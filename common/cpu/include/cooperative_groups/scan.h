/** @file scan.h Stand-in for the CUDA header of this name. */
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {
template<class Group, class T, class F = plus<T>>
__forceinline__ T inclusive_scan(const Group &g, T value, F f = F()) {
    for (unsigned by = 1; by < g.size(); by *= 2) {
        T other = g.shfl_up(value, by);
        if (g.thread_rank() >= by) value = f(other, value);
    }
    return value;
}
/// The first thread gets T().
template<class Group, class T, class F = plus<T>>
__forceinline__ T exclusive_scan(const Group &g, T value, F f = F()) {
    T before = g.shfl_up(inclusive_scan(g, value, f), 1);
    return g.thread_rank() ? before : T();
}
} // namespace cooperative_groups
