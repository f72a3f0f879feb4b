module constants
  use iso_c_binding, only: c_double
  implicit none
  integer, parameter :: dp = c_double
  real(dp), parameter :: gravity = 9.81_dp, gas = 287.04_dp, heat = 1004.64_dp, latent = 2.501e6_dp
  real(dp), parameter :: freezing = 273.16_dp, stefan = 5.67e-8_dp
  integer, parameter :: levels = 40, columns = 60, steps = 4
end module
