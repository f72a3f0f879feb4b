#ifndef N
#define N 40
#endif
! L x = b.
module shared_trisolv
  implicit none
  integer, parameter :: n = N
  real(8) :: l(0:n - 1, 0:n - 1)
  real(8) :: x(0:n - 1)
  real(8) :: b(0:n - 1)
contains
  subroutine kernel(n_2)
    integer, intent(in) :: n_2
    integer :: i
    integer :: j
    do i = 0, n_2 - 1
      x(i) = b(i)
      do j = 0, i - 1
        x(i) = x(i) - (l(j, i)*x(j))
      end do
      x(i) = x(i)/l(i, i)
    end do
  end subroutine
end module
program main
  use shared_trisolv
  implicit none
  integer :: i
  do i = 0, n - 1
    l(i, i) = 1.0d0
  end do
  call kernel(n)
end program
