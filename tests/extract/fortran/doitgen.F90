! A(:, q, r) := A(:, q, r) C4, an allocatable array of three dimensions with lower bounds of its own.
#ifndef N
#define N 12
#endif
module transforms
  implicit none
  real(8), allocatable :: a(:, :, :), c4(:, :)
contains
  subroutine kernel(nr, nq, np, total)
    integer, intent(in) :: nr, nq, np
    real(8), intent(out) :: total(0:np - 1)
    integer :: r, q, p, s
    do r = 0, nr - 1
      do q = 0, nq - 1
        do p = 0, np - 1
          total(p) = 0.0d0
          do s = 0, np - 1
            total(p) = total(p) + a(s, q, r)*c4(p, s)
          end do
        end do
        a(:, q, r) = total
      end do
    end do
  end subroutine
end module
program main
  use transforms
  implicit none
  integer, parameter :: nr = N, nq = N - 2, np = N + 1
  real(8) :: total(np)
  allocate(a(0:np - 1, 0:nq - 1, 0:nr - 1), c4(0:np - 1, 0:np - 1))
  a = 1
  c4 = 1
  call kernel(nr, nq, np, total)
  print *, a(0, 0, 0)
end program
