subroutine forms(n, x, y)
  use somewhere, only: kind_of_all
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n), y(n, n)
  include 'missing.inc'
  goto (10, 20) n
10 x = 3*x
20 y(1) = x(2)
  call nobody(x)
end subroutine
