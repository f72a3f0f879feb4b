subroutine scale(n, m, x)
  integer, intent(in) :: n, m
  real(8), intent(inout) :: x(n)
  integer :: i
  do i = 1, n, m
    x(i) = 3*x(i)
  end do
end subroutine
