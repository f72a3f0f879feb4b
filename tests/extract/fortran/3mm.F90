#ifndef N
#define N 16
#endif
! G := (A B) (C D), one product as a function of its own that adds up in a scalar.
module shared_mm3
  implicit none
  integer, parameter :: n = N
  real(8) :: a(0:n - 1, 0:n - 1)
  real(8) :: b(0:n - 1, 0:n - 1)
  real(8) :: c(0:n - 1, 0:n - 1)
  real(8) :: d(0:n - 1, 0:n - 1)
  real(8) :: e(0:n - 1, 0:n - 1)
  real(8) :: f(0:n - 1, 0:n - 1)
  real(8) :: g(0:n - 1, 0:n - 1)
contains
  subroutine product(x, y, z)
    real(8) :: x(0:n - 1, 0:n - 1)
    real(8) :: y(0:n - 1, 0:n - 1)
    real(8) :: z(0:n - 1, 0:n - 1)
    integer :: i
    integer :: j
    real(8) :: sum
    integer :: k
    do i = 0, n - 1
      do j = 0, n - 1
        sum = 0.0d0
        do k = 0, n - 1
          sum = sum + x(k, i)*y(j, k)
        end do
        z(j, i) = sum
      end do
    end do
  end subroutine
  subroutine kernel()
    call product(a, b, e)
    call product(c, d, f)
    call product(e, f, g)
  end subroutine
end module
program main
  use shared_mm3
  implicit none
  call kernel()
end program
