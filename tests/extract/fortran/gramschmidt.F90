! A = Q R, column by column; a function of the module, which others may not call.
#ifndef N
#define N 18
#endif
module orthogonal
  implicit none
  private
  public :: kernel
  integer, parameter :: columns = N, rows = N + 5
  real(8) :: a(columns, rows), r(columns, columns), q(columns, rows)
contains
  function norm(m, k) result(length)
    integer, intent(in) :: m, k
    real(8) :: length
    integer :: i
    length = 0
    do i = 1, m
      length = length + a(k, i)*a(k, i)
    end do
    length = sqrt(length)
  end function
  subroutine kernel()
    integer :: i, j, k
    a = 1
    do k = 1, columns
      r(k, k) = norm(rows, k)
      do i = 1, rows
        q(k, i) = a(k, i)/r(k, k)
      end do
      do j = k + 1, columns
        r(j, k) = 0
        do i = 1, rows
          r(j, k) = r(j, k) + q(k, i)*a(j, i)
        end do
        do i = 1, rows
          a(j, i) = a(j, i) - q(k, i)*r(j, k)
        end do
      end do
    end do
  end subroutine
end module
program main
  use orthogonal
  call kernel()
end program
