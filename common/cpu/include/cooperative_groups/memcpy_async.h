/** @file memcpy_async.h Stand-in for the CUDA header of this name. Each call commits a group of its own. */
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {
template<class Group, class T>
__forceinline__ void __copy(const Group &g, T *dst, const T *src, size_t bytes, size_t align) {
    cpu::copy_part(dst, src, bytes, {unsigned(g.thread_rank()), unsigned(g.size()), unsigned(align), true});
    __pipeline_commit();
}
template<class Group, class T>
__forceinline__ void memcpy_async(const Group &g, T *dst, const T *src, size_t bytes) {
    __copy(g, dst, src, bytes, cpu::align_of<T>);
}
/// Says by its type, cuda::aligned_size_t<N>, that all is a multiple of N.
template<class Group, class T, template<size_t> class Aligned, size_t N>
__forceinline__ void memcpy_async(const Group &g, T *dst, const T *src, const Aligned<N> &bytes) {
    __copy(g, dst, src, bytes, N);
}
template<class Group, class T>
__forceinline__ void memcpy_async(const Group &g, T *dst, size_t to, const T *src, size_t from) { // elements
    __copy(g, dst, src, (to < from ? to : from) * sizeof(T), alignof(T));
}
template<class Group, class T, template<size_t> class Aligned, size_t N> __forceinline__ void
memcpy_async(const Group &g, T *dst, const Aligned<N> &to, const T *src, const Aligned<N> &from) {
    __copy(g, dst, src, (size_t(to) < size_t(from) ? size_t(to) : size_t(from)) * sizeof(T), N);
}
template<unsigned Prior, class Group> __forceinline__ void wait_prior(const Group &g) {
    __pipeline_wait_prior(Prior);
    g.sync();
}
template<class Group> __forceinline__ void wait(const Group &g) { wait_prior<0>(g); }
} // namespace cooperative_groups
