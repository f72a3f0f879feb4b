#ifndef N
#define N 20
#endif
! A x = b by way of A = L U, then two triangular systems.
module shared_ludcmp
  implicit none
  integer, parameter :: n = N
  real(8) :: a(0:n - 1, 0:n - 1)
  real(8) :: b(0:n - 1)
  real(8) :: x(0:n - 1)
  real(8) :: y(0:n - 1)
contains
  subroutine kernel(n_2)
    integer, intent(in) :: n_2
    real(8) :: w
    integer :: i
    integer :: j
    integer :: k
    do i = 0, n_2 - 1
      do j = 0, i - 1
        w = a(j, i)
        do k = 0, j - 1
          w = w - (a(k, i)*a(j, k))
        end do
        a(j, i) = w/a(j, j)
      end do
      do j = i, n_2 - 1
        w = a(j, i)
        do k = 0, i - 1
          w = w - (a(k, i)*a(j, k))
        end do
        a(j, i) = w
      end do
    end do
    do i = 0, n_2 - 1
      w = b(i)
      do j = 0, i - 1
        w = w - (a(j, i)*y(j))
      end do
      y(i) = w
    end do
    do i = n_2 - 1, 0, -1
      w = y(i)
      do j = i + 1, n_2 - 1
        w = w - (a(j, i)*x(j))
      end do
      x(i) = w/a(i, i)
    end do
  end subroutine
end module
program main
  use shared_ludcmp
  implicit none
  integer :: i
  do i = 0, n - 1
    a(i, i) = 2.0d0
  end do
  call kernel(n)
end program
