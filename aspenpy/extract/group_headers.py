"""Declarations of our own for cooperative groups, which stand for the headers of CUDA and HIP."""

from __future__ import annotations

NAMESPACE = "cooperative_groups"

HEADERS = (
    "cooperative_groups.h",
    "cooperative_groups/reduce.h",
    "cooperative_groups/scan.h",
    "cooperative_groups/memcpy_async.h",
    "hip/hip_cooperative_groups.h",
)

HEADER = """
namespace cooperative_groups {
struct thread_group {
  __device__ void sync() const;
  __device__ unsigned thread_rank() const;
  __device__ unsigned size() const;
  __device__ unsigned num_threads() const;
  __device__ bool is_valid() const;
};
struct thread_block : thread_group {
  __device__ uint3 group_index() const;
  __device__ uint3 thread_index() const;
};
struct grid_group : thread_group {};
struct coalesced_group : thread_group {};
template <unsigned N, class P = void> struct thread_block_tile : thread_group {
  __device__ unsigned meta_group_rank() const;
  __device__ unsigned meta_group_size() const;
  template <class T> __device__ T shfl(T, int) const;
  template <class T> __device__ T shfl_down(T, int) const;
  template <class T> __device__ T shfl_up(T, int) const;
  template <class T> __device__ T shfl_xor(T, int) const;
  __device__ int any(int) const;
  __device__ int all(int) const;
  __device__ unsigned ballot(int) const;
};
__device__ thread_block this_thread_block();
__device__ grid_group this_grid();
__device__ coalesced_group coalesced_threads();
template <unsigned N, class G> __device__ thread_block_tile<N, G> tiled_partition(const G &);
template <class G> __device__ void sync(const G &);
template <class T> struct plus { __device__ T operator()(T, T) const; };
template <class T> struct less { __device__ T operator()(T, T) const; };
template <class T> struct greater { __device__ T operator()(T, T) const; };
template <class G, class T, class F> __device__ T reduce(const G &, T, F);
}
"""
