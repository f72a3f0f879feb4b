#ifndef N
#define N 16
#endif
#ifndef STEPS
#define STEPS 3
#endif
! Maxwell's equations in two dimensions, by finite differences in time.
module shared_fdtd_2d
  implicit none
  integer, parameter :: n = N
  integer, parameter :: steps = STEPS
  integer, parameter :: nx = n
  integer, parameter :: ny = (n + 3)
  real(8) :: ex(0:n + 3 - 1, 0:n - 1)
  real(8) :: ey(0:n + 3 - 1, 0:n - 1)
  real(8) :: hz(0:n + 3 - 1, 0:n - 1)
  real(8) :: fict(0:steps - 1)
contains
  subroutine kernel(tmax, nx_2, ny_2)
    integer, intent(in) :: tmax
    integer, intent(in) :: nx_2
    integer, intent(in) :: ny_2
    integer :: t
    integer :: i
    integer :: j
    do t = 0, tmax - 1
      do j = 0, ny_2 - 1
        ey(j, 0) = fict(t)
      end do
      do i = 1, nx_2 - 1
        do j = 0, ny_2 - 1
          ey(j, i) = ey(j, i) - 0.5d0*(hz(j, i) - hz(j, i - 1))
        end do
      end do
      do i = 0, nx_2 - 1
        do j = 1, ny_2 - 1
          ex(j, i) = ex(j, i) - 0.5d0*(hz(j, i) - hz(j - 1, i))
        end do
      end do
      do i = 0, nx_2 - 2
        do j = 0, ny_2 - 2
          hz(j, i) = hz(j, i) - 0.7d0*(ex(j + 1, i) - ex(j, i) + ey(j, i + 1) - ey(j, i))
        end do
      end do
    end do
  end subroutine
end module
program main
  use shared_fdtd_2d
  implicit none
  call kernel(steps, n, n + 3)
end program
