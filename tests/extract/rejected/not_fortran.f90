subroutine scale(x)
  real(8), intent(inout) :: x(:)
  x = = 3*x
end subroutine
