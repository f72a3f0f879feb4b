! Gauss and Seidel's relaxation with nine points, in place.
#ifndef N
#define N 20
#endif
#ifndef STEPS
#define STEPS 3
#endif
module relaxation
  implicit none
  real(8) :: a(N, N)
contains
  subroutine kernel(steps, n)
    integer, intent(in) :: steps, n
    integer :: t, i, j
    do t = 0, steps - 1
      do i = 2, n - 1
        do j = 2, n - 1
          a(j, i) = (a(j - 1, i - 1) + a(j, i - 1) + a(j + 1, i - 1) + a(j - 1, i) + a(j, i) + a(j + 1, i) &
            + a(j - 1, i + 1) + a(j, i + 1) + a(j + 1, i + 1))/9.0d0
        end do
      end do
    end do
  end subroutine
end module
program main
  use relaxation
  call kernel(STEPS, N)
  print *, a(2, 2)
end program
