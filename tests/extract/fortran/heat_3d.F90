! Heat in three dimensions, to and fro between two arrays, each step one assignment to a section.
#ifndef N
#define N 10
#endif
#ifndef STEPS
#define STEPS 3
#endif
module heat
  implicit none
contains
  subroutine step(n, new, old)
    integer, intent(in) :: n
    real(8), intent(inout) :: new(n, n, n)
    real(8), intent(in) :: old(n, n, n)
    new(2:n-1, 2:n-1, 2:n-1) = &
        0.125d0*(old(2:n-1, 2:n-1, 3:n) - 2.0d0*old(2:n-1, 2:n-1, 2:n-1) + old(2:n-1, 2:n-1, 1:n-2)) &
        + 0.125d0*(old(2:n-1, 3:n, 2:n-1) - 2.0d0*old(2:n-1, 2:n-1, 2:n-1) + old(2:n-1, 1:n-2, 2:n-1)) &
        + 0.125d0*(old(3:n, 2:n-1, 2:n-1) - 2.0d0*old(2:n-1, 2:n-1, 2:n-1) + old(1:n-2, 2:n-1, 2:n-1)) &
        + old(2:n-1, 2:n-1, 2:n-1)
  end subroutine
  subroutine kernel(steps, n, a, b)
    integer, intent(in) :: steps, n
    real(8), intent(inout) :: a(n, n, n), b(n, n, n)
    integer :: t
    do t = 1, steps
      call step(n, b, a)
      call step(n, a, b)
    end do
  end subroutine
end module
program main
  use heat
  implicit none
  real(8) :: a(N, N, N), b(N, N, N)
  a = 1
  b = 1
  call kernel(STEPS, N, a, b)
  print *, a(2, 2, 2)
end program
