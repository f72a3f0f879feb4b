! y := alpha A x + beta B x, with a while loop over rows and dot products.
#ifndef N
#define N 32
#endif
subroutine kernel(n, alpha, beta, a, b, x, y)
  implicit none
  integer, intent(in) :: n
  real(8), intent(in) :: alpha, beta, a(n, n), b(n, n), x(n)
  real(8), intent(out) :: y(n)
  integer :: i
  i = 1
  do while (i <= n)
    y(i) = alpha*dot_product(a(:, i), x) + beta*dot_product(b(:, i), x)
    i = i + 1
  end do
end subroutine
program main
  implicit none
  real(8) :: a(N, N), b(N, N), x(N), y(N)
  a = 1
  b = 1
  x = 1
  call kernel(N, 1.5d0, 1.2d0, a, b, x, y)
  print *, y(1)
end program
