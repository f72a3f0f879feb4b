! D := alpha A B C + beta D by way of T = alpha A B; arrays of explicit shape.
#ifndef N
#define N 20
#endif
subroutine kernel(n, alpha, beta, t, a, b, c, d)
  implicit none
  integer, intent(in) :: n
  double precision, intent(in) :: alpha, beta, a(n, n), b(n, n), c(n, n)
  double precision, intent(out) :: t(n, n)
  double precision, intent(inout) :: d(n, n)
  integer :: i, j, k
  do i = 1, n
    do j = 1, n
      t(j, i) = 0.0d0
      do k = 1, n
        t(j, i) = t(j, i) + alpha*a(k, i)*b(j, k)
      end do
    end do
  end do
  do i = 1, n
    do j = 1, n
      d(j, i) = d(j, i)*beta
      do k = 1, n
        d(j, i) = d(j, i) + t(k, i)*c(j, k)
      end do
    end do
  end do
end subroutine
program main
  implicit none
  integer, parameter :: size = N
  double precision, allocatable :: a(:, :), b(:, :), c(:, :), d(:, :), t(:, :)
  allocate(a(size, size), b(size, size), c(size, size), d(size, size), t(size, size))
  a = 1.0d0
  b = 1.0d0
  c = 1.0d0
  d = 1.0d0
  call kernel(size, 1.5d0, 1.2d0, t, a, b, c, d)
  print *, d(1, 1)
end program
