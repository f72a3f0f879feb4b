! A star of five points, by a pure function that is called for each.
#ifndef N
#define N 20
#endif
#ifndef STEPS
#define STEPS 3
#endif
module stars
  implicit none
  real(8) :: a(N, N), b(N, N)
contains
  pure real(8) function star(x, i, j)
    real(8), intent(in) :: x(N, N)
    integer, intent(in) :: i, j
    star = 0.2d0*(x(j, i) + x(j - 1, i) + x(1 + j, i) + x(j, 1 + i) + x(j, i - 1))
  end function
  subroutine kernel(steps, n)
    integer, intent(in) :: steps, n
    integer :: t, i, j
    do t = 1, steps
      do i = 2, n - 1
        do j = 2, n - 1
          b(j, i) = star(a, i, j)
        end do
      end do
      do i = 2, n - 1
        do j = 2, n - 1
          a(j, i) = star(b, i, j)
        end do
      end do
    end do
  end subroutine
end module
program main
  use stars
  call kernel(STEPS, N)
  print *, a(2, 2)
end program
