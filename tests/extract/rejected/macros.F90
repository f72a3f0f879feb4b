#define TWICE(a) ((a) + (a))
#if VERSION >> 2
#endif
subroutine scale(x)
  real(8), intent(inout) :: x(9)
  x(1) = TWICE(x(2))
end subroutine
