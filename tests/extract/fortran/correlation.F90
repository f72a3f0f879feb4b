#ifndef N
#define N 24
#endif
! The correlation matrix; deviations near zero count as one.
module shared_correlation
  implicit none
  integer, parameter :: n = N
  integer, parameter :: m = (n - 2)
  real(8) :: data(0:n - 2 - 1, 0:n - 1)
  real(8) :: corr(0:n - 2 - 1, 0:n - 2 - 1)
  real(8) :: mean(0:n - 2 - 1)
  real(8) :: stddev(0:n - 2 - 1)
contains
  subroutine kernel(m_2, n_2)
    integer, intent(in) :: m_2
    integer, intent(in) :: n_2
    real(8) :: float_n
    real(8) :: eps
    integer :: j
    integer :: i
    real(8) :: d
    integer :: k
    float_n = dble(n_2)
    eps = 0.1d0
    do j = 0, m_2 - 1
      mean(j) = 0.0d0
      do i = 0, n_2 - 1
        mean(j) = mean(j) + data(j, i)
      end do
      mean(j) = mean(j)/float_n
    end do
    do j = 0, m_2 - 1
      stddev(j) = 0.0d0
      do i = 0, n_2 - 1
        d = data(j, i) - mean(j)
        stddev(j) = stddev(j) + d*d
      end do
      stddev(j) = stddev(j)/float_n
      stddev(j) = sqrt(stddev(j))
      stddev(j) = merge(1.0d0, stddev(j), stddev(j) <= eps)
    end do
    do i = 0, n_2 - 1
      do j = 0, m_2 - 1
        data(j, i) = data(j, i) - mean(j)
        data(j, i) = data(j, i)/(sqrt(float_n)*stddev(j))
      end do
    end do
    do i = 0, m_2 - 2
      corr(i, i) = 1.0d0
      do j = i + 1, m_2 - 1
        corr(j, i) = 0.0d0
        do k = 0, n_2 - 1
          corr(j, i) = corr(j, i) + data(i, k)*data(j, k)
        end do
        corr(i, j) = corr(j, i)
      end do
    end do
    corr(m_2 - 1, m_2 - 1) = 1.0d0
  end subroutine
end module
program main
  use shared_correlation
  implicit none
  integer :: i
  integer :: j
  do i = 0, n - 1
    do j = 0, n - 3
      data(j, i) = (dble(mod(i, 7)) + 0.5d0)*(dble(mod(i, 7)) + 0.5d0) + dble(j)
    end do
  end do
  call kernel(n - 2, n)
end program
