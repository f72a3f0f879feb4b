module sizes
  implicit none
  integer, parameter :: rk = selected_real_kind(15, 307)
  integer, parameter :: parts = 5
#ifndef N
#define N 11
#endif
  integer, parameter :: points = N
  integer, parameter :: sweeps = 2
  real(rk), save :: field(parts, points, points, points), right(parts, points, points, points)
end module
