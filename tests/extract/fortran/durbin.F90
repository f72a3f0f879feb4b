#ifndef N
#define N 40
#endif
! The Yule-Walker equations of a Toeplitz matrix.
module shared_durbin
  implicit none
  integer, parameter :: n = N
  real(8) :: r(0:n - 1)
  real(8) :: y(0:n - 1)
  real(8) :: z(0:n - 1)
contains
  subroutine kernel(n_2)
    integer, intent(in) :: n_2
    real(8) :: alpha
    real(8) :: beta
    integer :: k
    real(8) :: sum
    integer :: i
    alpha = (-r(0))
    beta = 1.0d0
    y(0) = (-r(0))
    do k = 1, n_2 - 1
      beta = (1.0d0 - alpha*alpha)*beta
      sum = 0.0d0
      do i = 0, k - 1
        sum = sum + r(k - i - 1)*y(i)
      end do
      alpha = (-r(k) + sum)/beta
      do i = 0, k - 1
        z(i) = y(i) + alpha*y(k - i - 1)
      end do
      do i = 0, k - 1
        y(i) = z(i)
      end do
      y(k) = alpha
    end do
  end subroutine
end module
program main
  use shared_durbin
  implicit none
  r(0) = 0.3d0
  call kernel(n)
end program
