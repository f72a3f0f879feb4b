"""Headers of our own that declare what is read of Kokkos and SYCL, for programs that are read where neither is
installed."""

from __future__ import annotations

KOKKOS, SYCL = "Kokkos", "sycl"

_KOKKOS = """
namespace Kokkos {
template <class T> struct element_of { typedef T type; };
template <class T> struct element_of<T *> : element_of<T> {};
template <class D, class... P> struct View {
  typedef typename element_of<D>::type value_type;
  View();
  template <class... A> explicit View(const char *, A...);
  template <class... I> value_type &operator()(I...) const;
  template <class I> value_type &operator[](I) const;
  unsigned long extent(int) const;
  unsigned long size() const;
  value_type *data() const;
};
template <int N, class... P> struct Rank {};
template <class... P> struct RangePolicy { template <class A, class B> RangePolicy(A, B); };
template <class... P> struct MDRangePolicy {
  template <int N> MDRangePolicy(const long (&)[N], const long (&)[N]);
  template <int N> MDRangePolicy(const long (&)[N], const long (&)[N], const long (&)[N]);
};
template <class P, class F> void parallel_for(const char *, const P &, const F &);
template <class P, class F> void parallel_for(const P &, const F &);
template <class P, class F, class T> void parallel_reduce(const char *, const P &, const F &, T &&);
template <class P, class F, class T> void parallel_reduce(const P &, const F &, T &&);
template <class A, class B> void deep_copy(const A &, const B &);
template <class... A> void initialize(A &&...);
template <class... A> void fence(A &&...);
void finalize();
struct ScopeGuard { template <class... A> ScopeGuard(A &&...); };
}
#define KOKKOS_LAMBDA [=]
#define KOKKOS_FUNCTION
#define KOKKOS_INLINE_FUNCTION inline
#define KOKKOS_FORCEINLINE_FUNCTION inline
"""

_SYCL = """
namespace sycl {
typedef unsigned long count;
template <int D = 1> struct range {
  range(count, count = 1, count = 1);
  count operator[](int) const;
  count get(int) const;
  count size() const;
};
template <int D = 1> struct id {
  id(count = 0, count = 0, count = 0);
  operator count() const;
  count operator[](int) const;
  count get(int) const;
};
template <int D = 1> struct item : id<D> { count get_id(int) const; count get_linear_id() const; };
template <int D = 1> struct nd_range { nd_range(range<D>, range<D>); };
template <int D = 1> struct nd_item {
  count get_global_id(int = 0) const;
  count get_local_id(int = 0) const;
  count get_group(int = 0) const;
  count get_global_linear_id() const;
};
struct event { void wait(); };
struct handler {
  template <class R, class F> void parallel_for(R, F);
  template <class N, class R, class F> void parallel_for(R, F);
  void depends_on(event);
};
struct queue {
  template <class... A> queue(A...);
  template <class F> event submit(F);
  template <class R, class F> event parallel_for(R, F);
  template <class N, class R, class F> event parallel_for(R, F);
  event memcpy(void *, const void *, count);
  void wait();
  void wait_and_throw();
};
template <class T> T *malloc_device(count, const queue &);
template <class T> T *malloc_shared(count, const queue &);
template <class T> T *malloc_host(count, const queue &);
void free(void *, const queue &);
struct selector {};
static const selector gpu_selector_v, default_selector_v;
}
"""

HEADERS = {
    "Kokkos_Core.hpp": f"#pragma once\n{_KOKKOS}",
    "sycl/sycl.hpp": f"#pragma once\n{_SYCL}",
    "CL/sycl.hpp": f"#pragma once\n{_SYCL}namespace cl {{ namespace sycl = ::sycl; }}",
}

HINT = "of this library are read: `parallel_for` and `parallel_reduce` over ranges, views, and memory by pointers"
"""The hint of an error in a program that names more of Kokkos or SYCL than the headers here declare."""
