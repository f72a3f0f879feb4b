#ifndef N
#define N 18
#endif
! C := alpha A B + beta C, A symmetric, its lower triangle stored.
module shared_symm
  implicit none
  integer, parameter :: n = N
  integer, parameter :: m = (n + 2)
  real(8) :: a(0:n + 2 - 1, 0:n + 2 - 1)
  real(8) :: b(0:n - 1, 0:n + 2 - 1)
  real(8) :: c(0:n - 1, 0:n + 2 - 1)
contains
  subroutine kernel(m_2, n_2, alpha, beta)
    integer, intent(in) :: m_2
    integer, intent(in) :: n_2
    real(8), intent(in) :: alpha
    real(8), intent(in) :: beta
    integer :: i
    integer :: j
    real(8) :: sum
    integer :: k
    do i = 0, m_2 - 1
      do j = 0, n_2 - 1
        sum = 0.0d0
        do k = 0, i - 1
          c(j, k) = c(j, k) + alpha*b(j, i)*a(k, i)
          sum = sum + b(j, k)*a(k, i)
        end do
        c(j, i) = beta*c(j, i) + alpha*b(j, i)*a(i, i) + alpha*sum
      end do
    end do
  end subroutine
end module
program main
  use shared_symm
  implicit none
  call kernel(n + 2, n, 1.5d0, 1.2d0)
end program
