subroutine find(n, x, k)
  integer, intent(in) :: n
  integer, intent(out) :: k
  real(8), intent(inout) :: x(n, n)
  integer :: i, j
  do j = 1, n
    do i = 1, n
      if (x(i, j) < 0) goto 100
      x(i, j) = sqrt(x(i, j))
    end do
  end do
  k = 0
  return
100 k = j
end subroutine
