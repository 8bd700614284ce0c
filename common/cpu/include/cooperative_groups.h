/** @file cooperative_groups.h Stand-in for the CUDA header of this name: the block, tiles of a warp and coalesced threads. */
#pragma once
#include "cuda_pipeline.h"

namespace cooperative_groups {
struct thread_block {
    static __forceinline__ void sync() { __syncthreads(); }
    static dim3 dim_threads() { return blockDim; }
    static dim3 group_dim() { return blockDim; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_index() { return blockIdx; }
    static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned size() { return num_threads(); }
    static unsigned thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
};
inline thread_block this_thread_block() { return {}; }

/// Lanes of a warp. Ranks count them upwards.
struct coalesced_group {
    unsigned mask;
    __forceinline__ void sync() const {
        if (mask & (mask - 1)) __syncwarp(mask); // a thread alone meets nobody
    }
    unsigned num_threads() const { return unsigned(__popc(mask)); }
    unsigned size() const { return num_threads(); }
    unsigned thread_rank() const { return unsigned(__popc(mask & ((1u << own_lane()) - 1))); }
    static unsigned own_lane() { return thread_block::thread_rank() % 32; }
    int lane_of(unsigned rank) const {
        unsigned rest = mask;
        for (; rank && rest; --rank) rest &= rest - 1;
        return rest ? __ffs(int(rest)) - 1 : int(own_lane()); // of no rank: its own value
    }
    template<class T> __forceinline__ T shfl(T value, unsigned rank) const {
        return __shfl_sync(mask, value, lane_of(rank % size()));
    }
    template<class T> __forceinline__ T shfl_up(T value, unsigned by) const {
        return __shfl_sync(mask, value, lane_of(by > thread_rank() ? thread_rank() : thread_rank() - by));
    }
    template<class T> __forceinline__ T shfl_down(T value, unsigned by) const {
        return __shfl_sync(mask, value, lane_of(thread_rank() + by));
    }
    template<class T> __forceinline__ T shfl_xor(T value, unsigned with) const {
        return __shfl_sync(mask, value, lane_of(thread_rank() ^ with));
    }
    __forceinline__ bool any(int yes) const { return __ballot_sync(mask, yes) & mask; }
    __forceinline__ bool all(int yes) const { return __all_sync(mask, yes); }
    __forceinline__ unsigned ballot(int yes) const {
        unsigned lanes = __ballot_sync(mask, yes), ranks = 0;
        for (unsigned r = 0; r < size(); ++r) ranks |= (lanes >> lane_of(r) & 1) << r;
        return ranks;
    }
};
/// As __activemask() has it: the caller alone, which is legal.
inline coalesced_group coalesced_threads() { return {__activemask()}; }

template<unsigned N> struct tile_of : coalesced_group {
    static_assert(N <= 32 && (N & (N - 1)) == 0, "the CPU device has tiles of 1, 2, 4, 8, 16 and 32 threads");
    static constexpr unsigned num_threads() { return N; }
    static constexpr unsigned size() { return N; }
    static unsigned thread_rank() { return own_lane() % N; }
    static unsigned meta_group_rank() { return thread_block::thread_rank() / N; }
    static unsigned meta_group_size() { return (thread_block::num_threads() + N - 1) / N; }
};
template<unsigned N, class Parent = void> struct thread_block_tile : tile_of<N> {
    thread_block_tile(tile_of<N> tile) : tile_of<N>(tile) {}
};
/// A group whose size is known when it runs only.
class thread_group {
    coalesced_group lanes; ///< none: it is the block
    bool whole_block() const { return lanes.mask == 0; }

  public:
    thread_group(thread_block) : lanes{0} {}
    thread_group(coalesced_group g) : lanes(g) {}
    __forceinline__ void sync() const { whole_block() ? __syncthreads() : lanes.sync(); }
    unsigned size() const { return whole_block() ? thread_block::size() : lanes.size(); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const { return whole_block() ? thread_block::thread_rank() : lanes.thread_rank(); }
};

inline unsigned __lanes(unsigned n) {
    return unsigned((uint64_t(1) << n) - 1) << coalesced_group::own_lane() / n * n;
}
template<unsigned N> thread_block_tile<N> tiled_partition(const thread_block &) {
    return tile_of<N>{{__lanes(N)}};
}
template<unsigned N, unsigned M, class P>
thread_block_tile<N> tiled_partition(const thread_block_tile<M, P> &) {
    static_assert(N <= M, "a tile of a tile is not larger");
    return tile_of<N>{{__lanes(N)}};
}
inline thread_group tiled_partition(const thread_block &, unsigned n) { return coalesced_group{__lanes(n)}; }
inline coalesced_group tiled_partition(const coalesced_group &g, unsigned n) {
    unsigned mask = 0;
    for (unsigned r = g.thread_rank() / n * n, end = r + n; r < end && r < g.size(); ++r)
        mask |= 1u << g.lane_of(r);
    return {mask};
}

template<class Group> __forceinline__ void sync(const Group &g) { g.sync(); }
template<class Group> unsigned thread_rank(const Group &g) { return g.thread_rank(); }
template<class Group> unsigned group_size(const Group &g) { return g.size(); }

template<class T> struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template<class T> struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template<class T> struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};
template<class T> struct bit_and {
    T operator()(T a, T b) const { return a & b; }
};
template<class T> struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
template<class T> struct bit_xor {
    T operator()(T a, T b) const { return a ^ b; }
};
} // namespace cooperative_groups
