#ifndef N
#define N 60
#endif
#ifndef STEPS
#define STEPS 4
#endif
! A star of three points, to and fro.
module shared_jacobi_1d
  implicit none
  integer, parameter :: n = N
  integer, parameter :: steps = STEPS
  real(8) :: a(0:n - 1)
  real(8) :: b(0:n - 1)
contains
  subroutine kernel(steps_2, n_2)
    integer, intent(in) :: steps_2
    integer, intent(in) :: n_2
    integer :: t
    integer :: i
    do t = 0, steps_2 - 1
      do i = 1, n_2 - 2
        b(i) = 0.33333d0*(a(i - 1) + a(i) + a(i + 1))
      end do
      do i = 1, n_2 - 2
        a(i) = 0.33333d0*(b(i - 1) + b(i) + b(i + 1))
      end do
    end do
  end subroutine
end module
program main
  use shared_jacobi_1d
  implicit none
  call kernel(steps, n)
end program
