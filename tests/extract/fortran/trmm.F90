#ifndef N
#define N 20
#endif
! B := alpha A' B, A lower triangular with units on its diagonal; loops count down.
module shared_trmm
  implicit none
  integer, parameter :: n = N
  integer, parameter :: m = (n + 1)
  real(8) :: a(0:n + 1 - 1, 0:n + 1 - 1)
  real(8) :: b(0:n - 1, 0:n + 1 - 1)
contains
  subroutine kernel(m_2, n_2, alpha)
    integer, intent(in) :: m_2
    integer, intent(in) :: n_2
    real(8), intent(in) :: alpha
    integer :: i
    integer :: j
    integer :: k
    do i = m_2 - 1, 0, -1
      do j = n_2 - 1, 0, -1
        do k = m_2 - 1, i + 1, -1
          b(j, i) = b(j, i) + a(i, k)*b(j, k)
        end do
        b(j, i) = alpha*b(j, i)
      end do
    end do
  end subroutine
end module
program main
  use shared_trmm
  implicit none
  call kernel(n + 1, n, 1.5d0)
end program
