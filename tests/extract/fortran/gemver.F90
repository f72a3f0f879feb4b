! A := A + u1 v1' + u2 v2'; x := beta A' y + z; w := alpha A x; vectors in a derived type.
#ifndef N
#define N 30
#endif
module vectors
  implicit none
  type vector_set
    real(8) :: u1(N), v1(N), u2(N), v2(N), x(N), y(N), z(N), w(N)
  end type
  type(vector_set) :: all_vectors
  real(8) :: a(N, N)
contains
  subroutine kernel(n, alpha, beta, v)
    integer, intent(in) :: n
    real(8), intent(in) :: alpha, beta
    type(vector_set), intent(inout) :: v
    integer :: i, j
    do i = 1, n
      do j = 1, n
        a(j, i) = a(j, i) + v%u1(i)*v%v1(j) + v%u2(i)*v%v2(j)
      end do
    end do
    do i = 1, n
      do j = 1, n
        v%x(i) = v%x(i) + beta*a(i, j)*v%y(j)
      end do
    end do
    do i = 1, n
      v%x(i) = v%x(i) + v%z(i)
    end do
    do i = 1, n
      do j = 1, n
        v%w(i) = v%w(i) + alpha*a(j, i)*v%x(j)
      end do
    end do
  end subroutine
end module
program main
  use vectors
  call kernel(N, 1.5d0, 1.2d0, all_vectors)
  print *, all_vectors%w(1)
end program
