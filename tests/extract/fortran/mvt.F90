#ifndef N
#define N 40
#endif
! x1 += A ya, x2 += A' yb.
module shared_mvt
  implicit none
  integer, parameter :: n = N
  real(8) :: a(0:n*n - 1)
  real(8) :: x1(0:n - 1)
  real(8) :: x2(0:n - 1)
  real(8) :: ya(0:n - 1)
  real(8) :: yb(0:n - 1)
contains
  subroutine kernel(n_2)
    integer, intent(in) :: n_2
    integer :: i
    integer :: j
    do i = 0, n_2 - 1
      do j = 0, n_2 - 1
        x1(i) = x1(i) + a(i*n_2 + j)*ya(j)
      end do
    end do
    do i = 0, n_2 - 1
      do j = 0, n_2 - 1
        x2(i) = x2(i) + a(j*n_2 + i)*yb(j)
      end do
    end do
  end subroutine
end module
program main
  use shared_mvt
  implicit none
  call kernel(n)
end program
