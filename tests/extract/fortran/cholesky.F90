! A = L L', L in the lower triangle of A, with dot products of columns.
#ifndef N
#define N 20
#endif
subroutine kernel(n, a)
  implicit none
  integer, intent(in) :: n
  real(8), intent(inout) :: a(n, *)
  real(8) :: x, d
  integer :: i, j, k
  do i = 1, n
    do j = 1, i - 1
      x = a(j, i)
      do k = 1, j - 1
        x = x - a(k, i)*a(k, j)
      end do
      a(j, i) = x/a(j, j)
    end do
    d = a(i, i)
    do k = 1, i - 1
      d = d - a(k, i)**2
    end do
    a(i, i) = sqrt(d)
  end do
end subroutine
program main
  implicit none
  integer, parameter :: size = N
  real(8) :: a(size, size)
  integer :: i
  a = 0
  do i = 1, size
    a(i, i) = size
  end do
  call kernel(size, a)
  print *, a(1, 1)
end program
