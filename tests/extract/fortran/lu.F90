#ifndef N
#define N 20
#endif
! A = L U in place.
module shared_lu
  implicit none
  integer, parameter :: n = N
  real(8) :: a(0:n - 1, 0:n - 1)
contains
  subroutine kernel()
    integer :: i
    integer :: j
    integer :: k
    do i = 0, n - 1
      do j = 0, i - 1
        do k = 0, j - 1
          a(j, i) = a(j, i) - (a(k, i)*a(j, k))
        end do
        a(j, i) = a(j, i)/a(j, j)
      end do
      do j = i, n - 1
        do k = 0, i - 1
          a(j, i) = a(j, i) - (a(k, i)*a(j, k))
        end do
      end do
    end do
  end subroutine
end module
program main
  use shared_lu
  implicit none
  integer :: i
  do i = 0, n - 1
    a(i, i) = 2.0d0
  end do
  call kernel()
end program
