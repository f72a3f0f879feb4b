"""Hostile sources of Fortran, CUDA, HIP, Kokkos and SYCL: valid ones that are cut off, have words, lines and brackets
removed, repeated or exchanged, numbers of any size, bytes that are no text; and nests, macros, includes and launches
that no program has."""
# ruff: noqa: E501  (a program is a line)

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

EXTRACT = Path(__file__).parents[1] / "extract"

PORTABLE = {
    "kokkos.cpp": """#include <Kokkos_Core.hpp>
int main(int argc, char **argv) {
  Kokkos::initialize(argc, argv);
  const int n = 4096;
  Kokkos::View<double *> x("x", n*n), y("y", n*n);
  Kokkos::View<double **> a("a", n, n), b("b", n, n);
  double sum = 0;
  Kokkos::parallel_for("axpy", n*n, KOKKOS_LAMBDA(const int i) { y(i) += 2.0*x(i); });
  Kokkos::parallel_for("stencil", Kokkos::MDRangePolicy<Kokkos::Rank<2>>({1, 1}, {n - 1, n - 1}),
    KOKKOS_LAMBDA(int i, int j) { b(i, j) = a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1); });
  Kokkos::parallel_reduce("dot", Kokkos::RangePolicy<>(0, x.extent(0)),
    KOKKOS_LAMBDA(int i, double &part) { part += x(i)*y(i); }, sum);
  Kokkos::deep_copy(b, a);
  Kokkos::fence();
  Kokkos::finalize();
}
""",
    "sycl.cpp": """#include <sycl/sycl.hpp>
int main() {
  const int n = 4096;
  sycl::queue q{sycl::gpu_selector_v};
  double *x = sycl::malloc_device<double>(n*n, q), *y = sycl::malloc_shared<double>(n*n, q);
  q.parallel_for(sycl::range<1>(n*n), [=](sycl::id<1> i) { y[i] += 2.0*x[i]; });
  q.submit([&](sycl::handler &h) {
    h.parallel_for<class axpy>(sycl::nd_range<1>(n*n, 256), [=](sycl::nd_item<1> item) {
      int i = item.get_global_id(0);
      y[i] += 2.0*x[i];
    });
  });
  q.memcpy(y, x, n*sizeof(double));
  q.wait();
}
""",
    "directives.cpp": """#include <stdlib.h>
int main() {
  const int n = 4096;
  double *x = (double *)malloc(n*n*sizeof(double)), *y = (double *)malloc(n*n*sizeof(double)), sum = 0;
#pragma omp target data map(tofrom: x[0:n*n]) map(alloc: y[0:n*n])
  {
#pragma omp target teams distribute parallel for collapse(2) thread_limit(256)
    for (int j = 1; j < n - 1; j++)
      for (int i = 1; i < n - 1; i++) y[i + n*j] = x[i - 1 + n*j] + x[i + 1 + n*j];
#pragma acc parallel loop gang vector reduction(+: sum) copyin(x[0:n]) vector_length(128)
    for (int i = 0; i < n; i++) sum += x[i]*y[i];
  }
  return sum > 1;
}
""",
    "forms.f90": """module shapes
  implicit none
  type, abstract :: shape
    real(8), allocatable :: v(:, :)
  contains
    procedure(area_of), deferred :: area
    procedure :: scale
    generic :: operator(*) => scale
  end type
  type, extends(shape) :: box
    real(8) :: edge(3) = [1d0, 2d0, 3d0]
  contains
    procedure :: area => area_of_box
  end type
  abstract interface
    function area_of(self) result(a)
      import :: shape
      class(shape), intent(in) :: self
      real(8) :: a
    end function
  end interface
  interface
    module subroutine far(x)
      real(8), intent(inout) :: x(:)
    end subroutine
  end interface
contains
  function scale(self, by) result(s)
    class(shape), intent(in) :: self
    real(8), intent(in) :: by
    real(8) :: s
    s = sum(self%v)*by
  end function
  function area_of_box(self) result(a)
    class(box), intent(in) :: self
    real(8) :: a
    a = product(self%edge)
  end function
  recursive integer function depth(n) result(d)
    integer, intent(in) :: n
    d = merge(0, 1, n == 0)
    if (n > 0) d = d + depth(n - 1)
  end function
end module
submodule (shapes) inside
contains
  module subroutine far(x)
    real(8), intent(inout) :: x(:)
    block
      integer :: i
      outer: do concurrent (i = 1:size(x), x(i) > 0)
        x(i) = x(i)*3
      end do outer
    end block
  end subroutine
end submodule
program main
  use shapes, only: box, far, cube => depth
  implicit none
  integer, parameter :: n = 100
  type(box) :: b
  class(*), allocatable :: any
  real(8), target :: x(n), y(0:n-1)
  real(8), pointer :: p(:)
  integer :: i, k(n)
  namelist /input/ k, x
  read (*, nml=input)
  allocate(b%v(n, n), source=1d0)
  p => x(1:n:2)
  where (x > 0)
    y = sqrt(x)
  elsewhere
    y = 0
  end where
  forall (i = 1:n, k(i) > 0) x(i) = y(k(i) - 1)
  select case (k(1))
  case (:0)
    p = p*2
  case (1, 3:5)
    call far(x)
  case default
    x = [(real(i, 8), i = 1, n)]
  end select
  select type (any)
  type is (integer)
    i = any
  class default
    i = cube(3)
  end select
!$omp parallel do reduction(+: i) collapse(1)
  do i = 1, n
    if (x(i) < 0) cycle
    if (x(i) > 9) exit
    x(i) = x(i)**2 + dot_product(x, y)
  end do
  write (*, '(a, i0)') 'done', matmul(b%v, b%v)
end program
""",
    "old.f": """      SUBROUTINE OLD(N, X, IT)
      IMPLICIT DOUBLE PRECISION (A-H, O-Z)
      DIMENSION X(N), Y(3, *), IT(*)
      COMMON /BLOCK/ A(10, 20), B, C(5)
      EQUIVALENCE (A(1, 1), Z(1)), (B, Q)
      DATA C /5*1.0D0/
      F(T) = T*T + 1
      SAVE
      DO 10 I = 1, N
        DO 10 J = 1, N, 2
   10 X(I) = X(I) + F(C(1))*A(I, J)
      IF (X(1)) 20, 30, 40
   20 X(2) = 1
      GO TO (20, 30, 40), IT(1)
   30 ASSIGN 40 TO L
      GO TO 50
   40 CONTINUE
      ENTRY LATER(N, X, IT)
      WRITE (6, 99) (X(I), I = 1, N)
   99 FORMAT (1X, 10F8.3/
     1  (5(1PE12.4)))
   50 CALL OTHER(*20, X(2), 4HTEXT)
      RETURN
      END
""",
}
"""Names and texts of what the folders of the tests of extraction do not have."""

FILES = (
    "fortran/jacobi_2d.F90",
    "fortran/gramschmidt.F90",
    "fortran/nussinov.F90",
    "fortran/bicg.F",
    "device/streams.cu",
    "device/published.cu",
    "device/held_back.cu",
)

WORDS = (
    "0 1 -1 1e999 1d0 2147483647 2147483648 9223372036854775808 1_8 0x7fffffffffffffff ( ) [ ] { } <<< >>> < > , ; : :: "
    "% => = == & && * ** / // ' \" \\ # ! ? . ... @ $ ~ ^ | || -> !$omp !$acc #pragma #define #include #if #endif end do if "
    "then else for while return goto int double float real integer character(*) dimension(:) allocatable pointer "
    "template operator auto this new delete throw try catch lambda sizeof static extern __shared__ __global__ __device__ "
    "threadIdx.x blockIdx.y blockDim.z __syncthreads() atomicAdd __shfl_down_sync subroutine function module program use "
    "contains call result type class select case where forall associate block interface entry common data save n i x y"
).split()
LITERALS = (
    "0",
    "-1",
    "9" * 30,
    "9" * 4_000,
    "1e308",
    "1" + "0" * 400 + ".0",
    "2147483648",
    "1" * 19,
    "0.5",
    "1/0",
    "0xffffffffffffffffff",
    "1.d+9999",
)
NOISE = (
    b"\xff",
    b"\xc3",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\0",
    "٣".encode(),
    b"\r",
    b"\x1a",
    b"\x0c",
    "é".encode(),
)


@cache
def seeds() -> tuple[tuple[str, str], ...]:
    """Names and texts of valid programs."""
    own = ((Path(name).name, (EXTRACT / name).read_text(encoding="utf-8")) for name in FILES)
    return (*own, *PORTABLE.items(), ("held.hip", (EXTRACT / "device" / "streams.cu").read_text(encoding="utf-8")))


# -- damaged programs -------------------------------------------------------------------------------------------------


def damaged(random: Random) -> dict[str, bytes]:
    """A valid program of which a few places are other than they were."""
    name, text = random.choice(seeds())
    if len(text) > 6_000:
        start = text.rfind("\n// --", 0, random.randrange(len(text))) + 1
        text = text[:200] + text[start : start + 5_000]
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        text = _changed(random, text)
    content = text.encode("utf-8", "surrogatepass")
    if random.random() < 0.15:
        place = random.randrange(len(content) + 1)
        content = content[:place] + random.choice(NOISE) + content[place:]
    return {name: content}


def _changed(random: Random, text: str) -> str:
    lines = text.split("\n")
    line, other, kind = random.randrange(len(lines)), random.randrange(len(lines)), random.randrange(12)
    if kind == 0:
        del lines[line]
    elif kind == 1:
        lines.insert(line, lines[other])
    elif kind == 2:
        lines[line], lines[other] = lines[other], lines[line]
    elif kind == 3:
        return text[: random.randrange(len(text) + 1)]
    elif kind == 4:
        lines[min(line, other) : max(line, other)] = []
    elif kind == 5:
        numbers = [*re.finditer(r"\b\d[\w.]*", text)]
        if numbers:
            found = random.choice(numbers)
            return text[: found.start()] + random.choice(LITERALS) + text[found.end() :]
    else:
        words = [*re.finditer(r"\w+|[^\w\s]+", text)]
        if words:
            found = random.choice(words)
            by = {6: "", 7: found[0] * 2, 8: random.choice(words)[0]}.get(kind, random.choice(WORDS))
            return text[: found.start()] + by + text[found.end() :]
    return "\n".join(lines)


# -- programs that no one writes --------------------------------------------------------------------------------------


def absurd(random: Random) -> dict[str, bytes]:
    """Deep, long or circular programs."""
    maker = random.choice(
        (_fortran_nest, _fortran_statement, _fortran_macros, _fixed, _kernel, _launch, _macros, _includes, _lambdas)
    )
    return {name: text.encode() for name, text in maker(random).items()}


def _fortran_nest(random: Random) -> dict[str, str]:
    depth = random.choice((5, 30, 200, 400))
    opened, closed = random.choice(
        (
            ("do i{} = 1, n", "end do"),
            ("if (x({}) > 1) then", "end if"),
            ("block\ninteger :: j{}", "end block"),
            ("associate (a{} => x(1))", "end associate"),
            ("select case (n)\ncase ({})", "end select"),
            ("do concurrent (i = 1:n)", "end do"),
            ("where (x > {})", "end where"),
            ("l{0}: do", "end do l{0}"),
            ("do while (x(1) > {})", "end do"),
            ("!$omp parallel do\ndo i{} = 1, n", "end do"),
        )
    )
    heads = "\n".join(opened.format(k + 1) for k in range(depth))
    tails = "\n".join(closed.format(depth - k) for k in range(depth - random.choice((0, 0, 0, 1))))
    return {"a.f90": f"subroutine s(n, x)\ninteger n\nreal(8) x(n)\n{heads}\nx(1) = x(1)*3\n{tails}\nend\n"}


def _fortran_statement(random: Random) -> dict[str, str]:
    size = random.choice((10, 300, 3_000))
    statement = random.choice(
        (
            "x(1) = " + "(" * size + "x(2)" + ")" * size,
            "x(1) = " + "x(" * size + "1" + ")" * size,
            "x(1) = " + " &\n + ".join(["x(2)*x(3)"] * size),
            "x(1) = " + "-" * size + "x(2)",
            "x(1) = x(2)" + "**x(3)" * size,
            "x = [" + ", ".join(["1d0"] * size) + "]",
            "x(1) = " + "sqrt(" * size + "x(2)" + ")" * size,
            "x(1) = a" + "%b" * size,
            "call t(" + ", ".join(["x"] * size) + ")",
            "print *, '" + "a" * size * 10,
            "x(" + ":, " * size + ":) = 0",
            "goto " + "9" * size,
            "x = x" + "; x = x" * size,
            "x(1) = [((((i*j, i = 1, n), j = 1, n), k = 1, 1000000), l = 1, 1000000)]",
            "do i = 1, 10**9\nx(i) = 1\nend do",
        )
    )
    declared = random.choice(
        (
            "",
            f"real(8) y({'9' * size})\n",
            f"real(8) z({', '.join(['2'] * size)})\n",
            f"integer, parameter :: p = 2**{size}, q = 7**p\nreal(8) z(q)\n",
            "integer, parameter :: p(10000000) = [(i, i = 1, 10000000)]\n",
            "integer, parameter :: a = b, b = a\nreal(8) z(a)\n",
            "type t\ntype(t) :: u\nreal v(a)\nend type\ntype(t) w\n",
            "character(len=999999999), parameter :: c = repeat('a', 999999999)\n",
            "parameter (p = 10**(10**(10**10)))\n",
        )
    )
    return {"a.f90": f"subroutine s(n, x)\ninteger n\nreal(8) x(n)\n{declared}{statement}\nend\n"}


def _fortran_macros(random: Random) -> dict[str, str]:
    head = random.choice(
        (
            "#define A A A\n#define X A\n",
            "".join(f"#define A{k} A{k + 1} A{k + 1}\n" for k in range(40)) + "#define X A0\n",
            "#if " + "(" * 2_000 + "1" + ")" * 2_000 + "\n#endif\n",
            "#if 1\n" * 3_000,
            "#endif\n#else\n#elif\n",
            "#define F(a, b) a##b\n#define X F(F, F)(1,\n",
            '#include "a.F90"\n',
            '#include "b.h"\n',
            "#if 9**9**9**9\n#endif\n",
            "#define X " + "x" * 100_000 + "\n",
            "#if 1 << 99999999999\n#endif\n",
            "#if 10**10**10\n#endif\n",
            "#ifdef\n#ifndef\n#if\n#endif",
        )
    )
    text = f"{head}subroutine s(n, x)\ninteger n\nreal(8) x(n)\nx(1) = X A0\nend\n"
    return {"a.F90": text, "b.h": '#include "c.h"\n#include "c.h"\n', "c.h": '#include "b.h"\n#include "b.h"\n'}


def _fixed(random: Random) -> dict[str, str]:
    size = random.choice((10, 300, 3_000))
    body = random.choice(
        (
            "".join(f"      DO {k + 1} I{k} = 1, N\n" for k in range(size))
            + "      X(1) = 2\n"
            + "".join(f"{size - k:5d} CONTINUE\n" for k in range(size)),
            "".join(f"      DO 9 I{k} = 1, N\n" for k in range(size)) + "    9 X(1) = 2\n",
            "      X(1) = X(2)\n" + "     1 + X(3)\n" * size,
            "".join(f"{k + 1:5d} IF (X(1) .GT. 1) GO TO {size - k}\n" for k in range(size)),
            "      GO TO (" + ",".join(map(str, range(1, size))) + "), N\n",
            "      X(1) = " + "A" * size + "\n",
            "".join(f"      COMMON /B{k}/ Y{k}(99999999)\n" for k in range(size)),
            "      EQUIVALENCE " + ", ".join(f"(X({k}), X({k + 1}))" for k in range(min(size, 3))) + "\n",
            "      DATA Y /" + "99999999*1.0/\n",
            "      FORMAT (" + "(" * size + "\n",
            "\t1\tX = 1\n",
            "C" * size * 80 + "\n",
        )
    )
    return {"a.f": f"      SUBROUTINE S(N, X)\n      REAL*8 X(N)\n{body}      END\n"}


def _kernel(random: Random) -> dict[str, str]:
    size = random.choice((10, 60, 1_000))
    body = random.choice(
        (
            "".join(f"for (int i{k} = 0; i{k} < n; i{k}++) " for k in range(size)) + "x[i0] *= 3;",
            "".join(f"if (x[{k}] > threadIdx.x) " for k in range(size)) + "x[0] = 1;",
            "x[" * size + "0" + "]" * size + " = 1;",
            "x[threadIdx.x" + "*threadIdx.x" * size + "] = 1;",
            "x[threadIdx.x" + "/3%5*7" * size + "] = 1;",
            "".join(f"if (threadIdx.x == {k}) x[{k}] = {k}; else " for k in range(size)) + "x[n]++;",
            "__shared__ double s[1 << 30]; s[threadIdx.x] = x[0]; __syncthreads(); x[0] = s[n];",
            "f(n - 1, x); f(n + 1, x);",
            "".join(f"x[threadIdx.x*{2**k % 1009}] += x[threadIdx.y*{k}] * blockIdx.z;" for k in range(size)),
            "for (int i = threadIdx.x; i < (1 << 30); i *= 2) x[i] = 1;",
            "for (;;) { x[threadIdx.x] += 1; __syncthreads(); }",
            "while (atomicCAS((int *)x, 0, 1)) ; goto a; a: x[0] = 1;",
            "__syncthreads();" * size,
            "atomicAdd(x + threadIdx.x % n, 1.0);" * size,
            "switch (threadIdx.x) {" + "".join(f"case {k}: x[{k}] = {k};" for k in range(size)) + "}",
            "for (int i = 0; i < n; i += threadIdx.x) x[i] = 1;",
            'asm volatile("bra L;"); __nanosleep(9); printf("%d", n);',
            "for (long i = 0; i < 9223372036854775807; i++) for (int j = i; j < i*i; j++) x[i*j] += 1;",
        )
    )
    prefix = random.choice(
        (
            "__global__",
            "__global__ __launch_bounds__(99999, 99999)",
            "template <int n> __global__",
            "static inline __global__",
        )
    )
    launched = "f<3><<<64, 256>>>(3, y)" if "template" in prefix else "f<<<64, 256>>>(3, y)"
    name = random.choice(("a.cu", "a.hip"))
    head = "__device__ void f(int n, double *x);\n" if "f(n - 1" in body and random.random() < 0.5 else ""
    return {
        name: f"{head}{prefix} void f(int n, double *x) {{ {body} }}\n"
        f"int main() {{ double *y; cudaMalloc(&y, 1 << 26); {launched}; }}\n"
    }


def _launch(random: Random) -> dict[str, str]:
    sizes = (
        "0",
        "-1",
        "1",
        "2147483647",
        "1 << 31",
        "4294967296LL",
        "n",
        "n/0",
        "n*n*n*n*n",
        "dim3(65536, 65536, 65536)",
        "dim3(0, 0, 0)",
        "dim3(1, 1, 1024)",
        "dim3(n, n, n)",
        "dim3(3, 5, 7)",
        "1023",
        "33",
        "{1, 2}",
        "9" * 40,
        "rand()",
        "x",
        "sizeof(x)",
        "(int)1e99",
    )
    grid, block, more = (
        random.choice(sizes),
        random.choice(sizes),
        random.choice(("", ", 1 << 30", ", -1", ", n, 0", ", 0, 0, 0")),
    )
    bytes_ = random.choice(("0", "-8", "1ULL << 60", "n", "1 << 20", "8*" * 300 + "n"))
    loop = random.choice(
        ("", "while (1) ", "for (int i = 0; i < 1 << 30; i++) ", "for (; n < 5; n--) ", "if (x[0] > 1) ")
    )
    index = random.choice(
        (
            "blockIdx.x*blockDim.x + threadIdx.x",
            "threadIdx.x/3*7%11",
            "threadIdx.y*(1 << 20) + threadIdx.x",
            "(int)x[threadIdx.x]",
            "threadIdx.x ^ 5",
            "blockDim.x - threadIdx.x - 1",
            "threadIdx.x << threadIdx.x",
            "warpSize*clock()",
        )
    )
    return {
        random.choice(
            ("a.cu", "a.hip")
        ): f"__global__ void f(double *x, int n) {{ int i = {index}; if (i < n) x[i] = x[i + n]*2; }}\n"
        f"int main(int n, char **) {{ double *x; cudaMalloc(&x, {bytes_}); {loop}f<<<{grid}, {block}{more}>>>(x, n);\n"
        f"cudaMemcpy(x, x, {bytes_}, cudaMemcpyDefault); cudaGraphLaunch(0, 0); cudaStreamBeginCapture(0, 0); }}\n"
    }


def _macros(random: Random) -> dict[str, str]:
    size = random.choice((12, 18, 24))
    macros = random.choice(
        (
            "".join(f"#define A{k} A{k + 1} A{k + 1}\n" for k in range(size))
            + f"#define A{size} x[0] += 1;\n#define X A0\n",
            "#define X X X\n",
            "#define F(x) F(F(x)) G\n#define G F(x)\n#define X F(F)\n",
            "#define X " + "x[0] += 1; " * 5_000 + "\n",
            "#define double float\n#define for while\n#define X for (;;)\n",
            "#define X(\n",
            "#if 0\n#else\n#else\n#endif\n#define X\n",
            '#define X _Pragma("omp target teams loop") for (int i = 0; i < n; i++) x[i] = 1;\n',
            "#define n n\n#define x (x)\n#define X x[n] = n;\n",
            "#if " + "1+" * 50_000 + "1\n#endif\n#define X\n",
            "#define __global__\n#define __shared__ static\n#define X x[0] = 1;\n",
            '#line 999999 "/etc/passwd"\n#define X oops\n',
            "#include <no/such/file.h>\n#define X x[0] = 1;\n",
            "#pragma once\n#pragma omp\n#pragma acc (\n#define X\n",
        )
    )
    name = random.choice(("a.cu", "a.hip", "a.cpp"))
    if name == "a.cpp":
        return {name: f"{macros}void f(int n, double *x) {{ X }}\n"}
    return {name: f"{macros}__global__ void f(int n, double *x) {{ X }}\nvoid g(double *y) {{ f<<<4, 4>>>(3, y); }}\n"}


def _includes(random: Random) -> dict[str, str]:
    suffix = random.choice((".cu", ".hip", ".cpp", ".f90", ".F90", ".f"))
    sign = "#include" if suffix[1] in "chF" else "      include"
    own = f"a{suffix}"
    kinds = random.choice(
        (
            {own: f"{sign} '{own}'\n"},
            {own: f'{sign} "b"\n', "b": f'{sign} "b"\n{sign} "b"\n'},
            {own: f'{sign} "b"\n', "b": f'{sign} "c"\n{sign} "c"\n', "c": f'{sign} "b"\n{sign} "b"\n'},
            {own: f'{sign} "/dev/zero"\n'},
            {own: f'{sign} "."\n'},
            {own: f'{sign} "/etc/passwd"\n'},
            {own: f'{sign} "{"a" * 5_000}"\n'},
            {own: f'{sign} "b"\n' * 2_000, "b": "\n" * 500},
            {own: f'{sign} ""\n{sign}\n{sign} <'},
            {own: "".join(f'{sign} "h{k}"\n' for k in range(300)), **{f"h{k}": f"! // {k}\n" for k in range(300)}},
        )
    )
    return {name: text.replace("'", '"') for name, text in kinds.items()}


def _lambdas(random: Random) -> dict[str, str]:
    size = random.choice((3, 12, 60))
    inner = random.choice(
        (
            "y(i) += x(i);",
            "y(i) = y(y(y(i)));",
            "return;",
            "",
            "i = 1;",
            "main(0, 0);",
            "auto f = [&](auto f) { f(f); }; f(f);",
            "Kokkos::parallel_for(n, KOKKOS_LAMBDA(int j) { y(j) = 1; });",
            "y(i, i, i) = 1;",
            "undefined(i);",
        )
    )
    policy = random.choice(
        (
            "n",
            "-n",
            "Kokkos::RangePolicy<>(n, 0)",
            "Kokkos::TeamPolicy<>(n, Kokkos::AUTO)",
            "Kokkos::MDRangePolicy<Kokkos::Rank<2>>({0, 0}, {n, n})",
            "Kokkos::RangePolicy<Kokkos::Schedule<Kokkos::Dynamic>>(0, n, 7)",
            "x",
            '"n"',
            "1e30",
            "n/0",
        )
    )
    capture = random.choice(("KOKKOS_LAMBDA", "[=]", "[&]", "[x, y]", "[this]", "[=, *this]"))
    formals = random.choice(
        ("(int i)", "(const size_t i)", "(auto i)", "()", "(int i, int j)", "(int i, double &s)", "(sycl::id<1> i)")
    )
    call = f"Kokkos::parallel_{random.choice(('for', 'reduce', 'scan'))}({policy}, {capture}{formals} {{ {inner} }}{random.choice(('', ', s', ', Kokkos::Max<double>(s)'))});"
    nest = random.choice(
        (call * size, "[&] { " * size + call + " }();" * size, "for (int t = 0; t < n; t++) " * min(size, 30) + call)
    )
    return {
        "a.cpp": "#include <Kokkos_Core.hpp>\n#include <sycl/sycl.hpp>\n"
        f'int main(int n, char **) {{ double s; Kokkos::View<double *> x("x", n), y("y", n*n*n); {nest} }}\n'
    }


MAKERS: tuple[Callable[[Random], dict[str, bytes]], ...] = (damaged, absurd)


def files(seed: str) -> dict[str, bytes]:
    """Names and contents of the files of a case; the first is the one to extract."""
    random = Random(seed)
    return random.choice(MAKERS)(random)
