"""The thirty kernels of PolyBench, from the mathematics that they compute: which words each loads and stores, in which
order. What is added up, or used all through an inner loop, stays in a register. `polybench.aspen` models them."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from math import prod

PAGE = 4096
WORD = 8


class Memory:
    """Arrays on pages of their own, and the addresses that were touched: those of stores as `~address`."""

    def __init__(self) -> None:
        self.touched = array("q")
        self.end = 0

    def arrays(self, *shapes: tuple[int, ...]) -> list[Array]:
        made = []
        for shape in shapes:
            made.append(Array(self.touched, self.end, shape))
            self.end += -(-WORD * prod(shape) // PAGE) * PAGE
        return made


class Array:
    """Words by rows, with indices from 0. Values are of no interest: each is 1."""

    def __init__(self, touched: array[int], base: int, shape: tuple[int, ...]) -> None:
        self.touch, self.base = touched.append, base
        self.steps = [WORD * prod(shape[axis + 1 :]) for axis in range(len(shape))]

    def _address(self, place: tuple[int, ...] | int) -> int:
        if isinstance(place, int):
            return self.base + WORD * place
        if len(place) == 2:
            return self.base + self.steps[0] * place[0] + WORD * place[1]
        return self.base + sum(step * index for step, index in zip(self.steps, place, strict=True))

    def __getitem__(self, place: tuple[int, ...] | int) -> int:
        self.touch(self._address(place))
        return 1

    def __setitem__(self, place: tuple[int, ...] | int, value: float) -> None:
        self.touch(~self._address(place))


# -- products of matrices --------------------------------------------------------------------------


def _product(n: int, C: Array, A: Array, B: Array) -> None:
    """C += A B, by rows."""
    for i in range(n):
        for k in range(n):
            a = A[i, k]
            for j in range(n):
                C[i, j] += a * B[k, j]


def gemm(n: int, memory: Memory) -> None:
    A, B, C = memory.arrays(*[(n, n)] * 3)
    _product(n, C, A, B)


def two_mm(n: int, memory: Memory) -> None:
    """D += (A B) C."""
    A, B, C, D, E = memory.arrays(*[(n, n)] * 5)
    _product(n, E, A, B)
    _product(n, D, E, C)


def three_mm(n: int, memory: Memory) -> None:
    """G = (A B) (C D)."""
    A, B, C, D, E, F, G = memory.arrays(*[(n, n)] * 7)
    _product(n, E, A, B)
    _product(n, F, C, D)
    _product(n, G, E, F)


def syrk(n: int, memory: Memory) -> None:
    """The lower half of C += A A^T."""
    A, C = memory.arrays((n, n), (n, n))
    for i in range(n):
        for k in range(n):
            a = A[i, k]
            for j in range(i + 1):
                C[i, j] += a * A[j, k]


def syr2k(n: int, memory: Memory) -> None:
    """The lower half of C += A B^T + B A^T."""
    A, B, C = memory.arrays((n, n), (n, n), (n, n))
    for i in range(n):
        for k in range(n):
            a, b = A[i, k], B[i, k]
            for j in range(i + 1):
                C[i, j] += A[j, k] * b + B[j, k] * a


def trmm(n: int, memory: Memory) -> None:
    """B = A^T B, with A lower triangular and ones on its diagonal."""
    A, B = memory.arrays((n, n), (n, n))
    for i in range(n):
        for j in range(n):
            b = B[i, j]
            for k in range(i + 1, n):
                b += A[k, i] * B[k, j]
            B[i, j] = b


def symm(n: int, memory: Memory) -> None:
    """C += A B, A symmetric and its lower half stored."""
    A, B, C = memory.arrays((n, n), (n, n), (n, n))
    for i in range(n):
        for j in range(n):
            b, c = B[i, j], 0
            for k in range(i):
                a = A[i, k]
                C[k, j] += a * b
                c += a * B[k, j]
            C[i, j] += c + A[i, i] * b


def doitgen(n: int, memory: Memory) -> None:
    """A(r, q, :) = A(r, q, :) C for each of n/2 times n/2 vectors."""
    A, C, x = memory.arrays((n // 2, n // 2, n), (n, n), (n,))
    for r in range(n // 2):
        for q in range(n // 2):
            for p in range(n):
                x[p] = sum(A[r, q, s] * C[s, p] for s in range(n))
            for p in range(n):
                A[r, q, p] = x[p]


# -- matrices and vectors --------------------------------------------------------------------------


def atax(n: int, memory: Memory) -> None:
    """y = A^T (A x)."""
    A, x, y = memory.arrays((n, n), (n,), (n,))
    for i in range(n):
        t = sum(A[i, j] * x[j] for j in range(n))
        for j in range(n):
            y[j] += A[i, j] * t


def bicg(n: int, memory: Memory) -> None:
    """s = A^T r and q = A p."""
    A, s, r, q, p = memory.arrays((n, n), *[(n,)] * 4)
    for i in range(n):
        t, u = r[i], 0
        for j in range(n):
            a = A[i, j]
            s[j] += t * a
            u += a * p[j]
        q[i] = u


def mvt(n: int, memory: Memory) -> None:
    """x += A y and z += A^T w."""
    A, x, y, z, w = memory.arrays((n, n), *[(n,)] * 4)
    for i in range(n):
        x[i] += sum(A[i, j] * y[j] for j in range(n))
    for i in range(n):
        z[i] += sum(A[j, i] * w[j] for j in range(n))


def gemver(n: int, memory: Memory) -> None:
    """A += u v^T + r s^T; x += A^T y + z; w = A x."""
    A, u, v, r, s, x, y, z, w = memory.arrays((n, n), *[(n,)] * 8)
    for i in range(n):
        first, second = u[i], r[i]
        for j in range(n):
            A[i, j] += first * v[j] + second * s[j]
    for i in range(n):
        x[i] += sum(A[j, i] * y[j] for j in range(n))
    for i in range(n):
        x[i] += z[i]
    for i in range(n):
        w[i] = sum(A[i, j] * x[j] for j in range(n))


def gesummv(n: int, memory: Memory) -> None:
    """y = A x + B x."""
    A, B, x, y = memory.arrays((n, n), (n, n), (n,), (n,))
    for i in range(n):
        t = 0
        for j in range(n):
            b = x[j]
            t += A[i, j] * b + B[i, j] * b
        y[i] = t


def trisolv(n: int, memory: Memory) -> None:
    """L x = b, L lower triangular."""
    L, x, b = memory.arrays((n, n), (n,), (n,))
    for i in range(n):
        t = b[i] - sum(L[i, j] * x[j] for j in range(i))
        x[i] = t / L[i, i]


def durbin(n: int, memory: Memory) -> None:
    """Toeplitz systems by Levinson and Durbin's recursion."""
    r, y, z = memory.arrays((n,), (n,), (n,))
    for k in range(1, n):
        t = r[k] + sum(r[k - 1 - i] * y[i] for i in range(k))
        for i in range(k):
            z[i] = y[i] + t * y[k - 1 - i]
        for i in range(k):
            y[i] = z[i]
        y[k] = t


# -- factors of matrices ---------------------------------------------------------------------------


def cholesky(n: int, memory: Memory) -> None:
    (A,) = memory.arrays((n, n))
    for i in range(n):
        for j in range(i + 1):
            t = A[i, j] - sum(A[i, k] * A[j, k] for k in range(j))
            A[i, j] = t / A[j, j]


def lu(n: int, memory: Memory) -> None:
    """Without pivots, the row below each pivot at a time."""
    (A,) = memory.arrays((n, n))
    for k in range(n):
        for i in range(k + 1, n):
            t = A[i, k] / A[k, k]
            A[i, k] = t
            for j in range(k + 1, n):
                A[i, j] -= t * A[k, j]


def ludcmp(n: int, memory: Memory) -> None:
    """A x = b: factors column by column, then the two triangular systems."""
    A, b, x, y = memory.arrays((n, n), (n,), (n,), (n,))
    for j in range(n):
        for k in range(j):
            t = A[k, j]
            for i in range(k + 1, n):
                A[i, j] -= A[i, k] * t
        for i in range(j + 1, n):
            A[i, j] /= 2
    for i in range(n):
        y[i] = b[i] - sum(A[i, j] * y[j] for j in range(i))
    for i in reversed(range(n)):
        t = y[i] - sum(A[i, j] * x[j] for j in range(i + 1, n))
        x[i] = t / A[i, i]


def gramschmidt(n: int, memory: Memory) -> None:
    """A = Q R, column by column."""
    A, Q, R = memory.arrays((n, n), (n, n), (n, n))
    for k in range(n):
        R[k, k] = sum(A[i, k] for i in range(n))
        for i in range(n):
            Q[i, k] = A[i, k]
        for j in range(k + 1, n):
            t = sum(Q[i, k] * A[i, j] for i in range(n))
            R[k, j] = t
            for i in range(n):
                A[i, j] -= Q[i, k] * t


# -- statistics and dynamic programmes -------------------------------------------------------------


def covariance(n: int, memory: Memory) -> None:
    """Of the columns of D, by its mean."""
    D, m, C = memory.arrays((n, n), (n,), (n, n))
    for j in range(n):
        m[j] = sum(D[i, j] for i in range(n))
    for i in range(n):
        for j in range(n):
            D[i, j] -= m[j]
    for i in range(n):
        for j in range(i, n):
            t = sum(D[k, i] * D[k, j] for k in range(n))
            C[i, j] = t
            C[j, i] = t


def correlation(n: int, memory: Memory) -> None:
    """As the covariance, of columns over their deviation."""
    D, m, s, C = memory.arrays((n, n), (n,), (n,), (n, n))
    for j in range(n):
        m[j] = sum(D[i, j] for i in range(n))
    for j in range(n):
        t = m[j]
        s[j] = sum(D[i, j] - t for i in range(n))
    for i in range(n):
        for j in range(n):
            D[i, j] = (D[i, j] - m[j]) / s[j]
    for i in range(n):
        for j in range(i + 1, n):
            t = sum(D[k, i] * D[k, j] for k in range(n))
            C[i, j] = t
            C[j, i] = t


def floyd_warshall(n: int, memory: Memory) -> None:
    """The shortest ways between all pairs."""
    (A,) = memory.arrays((n, n))
    for k in range(n):
        for i in range(n):
            t = A[i, k]
            for j in range(n):
                A[i, j] = min(A[i, j], t + A[k, j])


def nussinov(n: int, memory: Memory) -> None:
    """The most pairs in a folded sequence: of each part of it the best of its shorter ones."""
    T, s = memory.arrays((n, n), (n,))
    for i in reversed(range(n - 1)):
        for j in range(i + 1, n):
            t = max(T[i, j - 1], T[i + 1, j], T[i + 1, j - 1] + s[i] * s[j])
            for k in range(i + 1, j):
                t = max(t, T[i, k] + T[k + 1, j])
            T[i, j] = t


# -- grids -----------------------------------------------------------------------------------------

STEPS = 4
"""Time steps, or pairs of them."""


def jacobi_1d(n: int, memory: Memory) -> None:
    grids = memory.arrays((n + 2,), (n + 2,))
    for _ in range(STEPS):
        for A, B in (grids, grids[::-1]):
            for i in range(1, n + 1):
                B[i] = A[i - 1] + A[i] + A[i + 1]


def jacobi_2d(n: int, memory: Memory) -> None:
    grids = memory.arrays((n + 2, n + 2), (n + 2, n + 2))
    for _ in range(STEPS):
        for A, B in (grids, grids[::-1]):
            for i in range(1, n + 1):
                for j in range(1, n + 1):
                    B[i, j] = A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i - 1, j] + A[i + 1, j]


def heat_3d(n: int, memory: Memory) -> None:
    grids = memory.arrays(*[(n + 2, n + 2, n + 2)] * 2)
    inside = range(1, n + 1)
    for _ in range(STEPS):
        for A, B in (grids, grids[::-1]):
            for i in inside:
                for j in inside:
                    for k in inside:
                        t = A[i + 1, j, k] + A[i - 1, j, k] + A[i, j + 1, k] + A[i, j - 1, k]
                        B[i, j, k] = t + A[i, j, k + 1] + A[i, j, k - 1] + A[i, j, k]


def seidel_2d(n: int, memory: Memory) -> None:
    (A,) = memory.arrays((n + 2, n + 2))
    for _ in range(STEPS):
        for i in range(1, n + 1):
            for j in range(1, n + 1):
                A[i, j] = sum(A[i + di, j + dj] for di in (-1, 0, 1) for dj in (-1, 0, 1))


def fdtd_2d(n: int, memory: Memory) -> None:
    """Electric fields X and Y, and the magnetic field H between them."""
    X, Y, H = memory.arrays((n, n + 1), (n + 1, n), (n, n))
    for _ in range(STEPS):
        for i in range(1, n):
            for j in range(n):
                Y[i, j] -= H[i, j] - H[i - 1, j]
        for i in range(n):
            for j in range(1, n):
                X[i, j] -= H[i, j] - H[i, j - 1]
        for i in range(n):
            for j in range(n):
                H[i, j] -= X[i, j + 1] - X[i, j] + Y[i + 1, j] - Y[i, j]


def adi(n: int, memory: Memory) -> None:
    """Heat in two dimensions: tridiagonal systems down the columns, then along the rows."""
    U, V, P, Q = memory.arrays(*[(n + 2, n + 2)] * 4)
    inside = range(1, n + 1)
    for _ in range(STEPS):
        for i in inside:
            for j in inside:
                P[i, j] = P[i, j - 1]
                Q[i, j] = U[j, i - 1] + U[j, i] + U[j, i + 1] + Q[i, j - 1] + P[i, j - 1]
            for j in reversed(inside):
                V[j, i] = P[i, j] * V[j + 1, i] + Q[i, j]
        for i in inside:
            for j in inside:
                P[i, j] = P[i, j - 1]
                Q[i, j] = V[i - 1, j] + V[i, j] + V[i + 1, j] + Q[i, j - 1] + P[i, j - 1]
            for j in reversed(inside):
                U[i, j] = P[i, j] * U[i, j + 1] + Q[i, j]


def deriche(n: int, memory: Memory) -> None:
    """A recursive filter, along the rows of a picture and then down its columns, both ways each."""
    A, B, Y, Z = memory.arrays(*[(n, n)] * 4)
    for i in range(n):
        for j in range(n):
            Y[i, j] = A[i, j]
    for i in range(n):
        for j in reversed(range(n)):
            Z[i, j] = A[i, j]
    for i in range(n):
        for j in range(n):
            B[i, j] = Y[i, j] + Z[i, j]
    for j in range(n):
        for i in range(n):
            Y[i, j] = B[i, j]
    for j in range(n):
        for i in reversed(range(n)):
            Z[i, j] = B[i, j]
    for i in range(n):
        for j in range(n):
            B[i, j] = Y[i, j] + Z[i, j]


CUBIC, SQUARE, GRID = (24, 50, 100), (60, 150, 300), (30, 75, 150)
"""Sizes of kernels that make some n^3 or n^2 steps, and of grids."""

Kernel = Callable[[int, Memory], None]

KERNELS: dict[Kernel, tuple[int, ...]] = {
    **dict.fromkeys((gemm, two_mm, three_mm, syrk, syr2k, trmm, symm), CUBIC),
    **dict.fromkeys((cholesky, lu, ludcmp, gramschmidt), CUBIC),
    **dict.fromkeys((covariance, correlation, floyd_warshall, nussinov), CUBIC),
    **dict.fromkeys((atax, bicg, mvt, gemver, gesummv, trisolv), SQUARE),
    **dict.fromkeys((jacobi_2d, seidel_2d, fdtd_2d, adi, deriche), GRID),
    doitgen: (16, 32, 64),
    durbin: (150, 400, 1000),
    jacobi_1d: (400, 2000, 8000),
    heat_3d: (10, 20, 36),
}
"""The kernels and their sizes."""
