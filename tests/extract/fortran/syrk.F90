#ifndef N
#define N 20
#endif
! C := alpha A A' + beta C on the lower triangle, an upper limit by <=.
module shared_syrk
  implicit none
  integer, parameter :: n = N
  real(8) :: a(0:n - 1, 0:n - 1)
  real(8) :: c(0:n - 1, 0:n - 1)
contains
  subroutine kernel(alpha, beta)
    real(8), intent(in) :: alpha
    real(8), intent(in) :: beta
    integer :: i
    integer :: j
    integer :: k
    do i = 0, n - 1
      do j = 0, i
        c(j, i) = c(j, i)*beta
      end do
      do k = 0, n - 1
        do j = 0, i
          c(j, i) = c(j, i) + alpha*a(k, i)*a(k, j)
        end do
      end do
    end do
  end subroutine
end module
program main
  use shared_syrk
  implicit none
  call kernel(1.5d0, 1.2d0)
end program
