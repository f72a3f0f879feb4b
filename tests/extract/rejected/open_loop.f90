subroutine scale(n, x)
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n)
  integer :: i
  do i = 1, n
    x(i) = 3*x(i)
end subroutine
