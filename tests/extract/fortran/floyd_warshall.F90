#ifndef N
#define N 18
#endif
! The lengths of shortest paths between all nodes.
module shared_floyd_warshall
  implicit none
  integer, parameter :: n = N
  integer :: path(0:n - 1, 0:n - 1)
contains
  subroutine kernel(n_2)
    integer, intent(in) :: n_2
    integer :: k
    integer :: i
    integer :: j
    do k = 0, n_2 - 1
      do i = 0, n_2 - 1
        do j = 0, n_2 - 1
          path(j, i) = merge(path(j, i), path(k, i) + path(j, k), path(j, i) < path(k, i) + path(j, k))
        end do
      end do
    end do
  end subroutine
end module
program main
  use shared_floyd_warshall
  implicit none
  integer :: i
  do i = 0, n*n - 1
    path(mod(i, n), i/n) = mod(i*7, 13)
  end do
  call kernel(n)
end program
