! y = A' (A x), arrays of assumed shape in a module, operations on columns.
#ifndef N
#define N 40
#endif
module products
  implicit none
  integer, parameter :: real_kind = selected_real_kind(15)
contains
  subroutine kernel(a, x, y, t)
    real(real_kind), intent(in) :: a(:, :), x(:)
    real(real_kind), intent(out) :: y(:), t(:)
    integer :: i, j
    y(:) = 0
    do i = 1, size(a, 2)
      t(i) = 0.0_real_kind
      do j = 1, size(a, 1)
        t(i) = t(i) + a(j, i)*x(j)
      end do
      y = y + a(:, i)*t(i)
    end do
  end subroutine
end module
program main
  use products, only: real_kind, multiply_twice => kernel
  implicit none
  real(real_kind) :: a(N, N + 6), x(N), y(N), t(N + 6)
  a = 1
  x = 1
  call multiply_twice(a, x, y, t)
  print *, y(1)
end program
