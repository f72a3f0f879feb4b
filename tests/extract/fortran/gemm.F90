#ifndef N
#define N 24
#endif
! C := alpha A B + beta C, global arrays of fixed size, sizes as arguments.
module shared_gemm
  implicit none
  integer, parameter :: n = N
  integer, parameter :: ni = n
  integer, parameter :: nj = (n + 2)
  integer, parameter :: nk = (n + 4)
  real(8) :: a(0:n + 4 - 1, 0:n - 1)
  real(8) :: b(0:n + 2 - 1, 0:n + 4 - 1)
  real(8) :: c(0:n + 2 - 1, 0:n - 1)
contains
  subroutine kernel(ni_2, nj_2, nk_2, alpha, beta)
    integer, intent(in) :: ni_2
    integer, intent(in) :: nj_2
    integer, intent(in) :: nk_2
    real(8), intent(in) :: alpha
    real(8), intent(in) :: beta
    integer :: i
    integer :: j
    integer :: k
    do i = 0, ni_2 - 1
      do j = 0, nj_2 - 1
        c(j, i) = c(j, i)*beta
      end do
      do k = 0, nk_2 - 1
        do j = 0, nj_2 - 1
          c(j, i) = c(j, i) + alpha*a(k, i)*b(j, k)
        end do
      end do
    end do
  end subroutine
end module
program main
  use shared_gemm
  implicit none
  integer :: i
  integer :: k
  do i = 0, n - 1
    do k = 0, n + 4 - 1
      a(k, i) = dble(i + k)
    end do
  end do
  call kernel(n, n + 2, n + 4, 1.5d0, 1.2d0)
end program
