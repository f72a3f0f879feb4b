#ifndef N
#define N 24
#endif
! The covariance matrix of M variables in N samples.
module shared_covariance
  implicit none
  integer, parameter :: n = N
  integer, parameter :: m = (n - 3)
  real(8) :: data(0:n - 3 - 1, 0:n - 1)
  real(8) :: cov(0:n - 3 - 1, 0:n - 3 - 1)
  real(8) :: mean(0:n - 3 - 1)
contains
  subroutine kernel(m_2, n_2, float_n)
    integer, intent(in) :: m_2
    integer, intent(in) :: n_2
    real(8), intent(in) :: float_n
    integer :: i
    integer :: j
    integer :: k
    do j = 0, m_2 - 1
      mean(j) = 0.0d0
      do i = 0, n_2 - 1
        mean(j) = mean(j) + data(j, i)
      end do
      mean(j) = mean(j)/float_n
    end do
    do i = 0, n_2 - 1
      do j = 0, m_2 - 1
        data(j, i) = data(j, i) - mean(j)
      end do
    end do
    do i = 0, m_2 - 1
      do j = i, m_2 - 1
        cov(j, i) = 0.0d0
        do k = 0, n_2 - 1
          cov(j, i) = cov(j, i) + data(i, k)*data(j, k)
        end do
        cov(j, i) = cov(j, i)/(float_n - 1.0d0)
        cov(i, j) = cov(j, i)
      end do
    end do
  end subroutine
end module
program main
  use shared_covariance
  implicit none
  call kernel(n - 3, n, 24.0d0)
end program
