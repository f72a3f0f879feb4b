#ifndef N
#define N 18
#endif
! C := alpha (A B' + B A') + beta C on the lower triangle, C packed row by row in one array.
module shared_syr2k
  implicit none
  integer, parameter :: n = N
  real(8) :: a(0:n - 1, 0:n - 1)
  real(8) :: b(0:n - 1, 0:n - 1)
  real(8) :: c(0:n*(n + 1)/2 - 1)
contains
  subroutine kernel(n_2, alpha, beta)
    integer, intent(in) :: n_2
    real(8), intent(in) :: alpha
    real(8), intent(in) :: beta
    integer :: at
    integer :: i
    integer :: j
    integer :: k
    at = 0
    do i = 0, n_2 - 1
      do j = 0, i
        c(at) = c(at)*beta
        do k = 0, n_2 - 1
          c(at) = c(at) + a(k, j)*alpha*b(k, i) + b(k, j)*alpha*a(k, i)
        end do
        at = at + 1
      end do
    end do
  end subroutine
end module
program main
  use shared_syr2k
  implicit none
  call kernel(n, 1.5d0, 1.2d0)
end program
