module atmosphere
  use constants
  implicit none
  type column_state
    real(dp), dimension(levels) :: temperature, vapour, cloud, rain, pressure, height
    real(dp) :: ground, precipitation
  end type
contains
  subroutine set_column(s, c)
    type(column_state), intent(out) :: s
    integer, intent(in) :: c
    integer :: k
    real(dp) :: warm
    warm = 0.3_dp*mod(c*7, 31)
    do k = 1, levels
      s%pressure(k) = 1.0e5_dp*(real(k, dp)/levels)
      s%temperature(k) = max(215.0_dp, 220.0_dp + 70.0_dp*k/levels + warm)
      s%vapour(k) = 1.0e-3_dp*(20.0_dp*k/levels)**1.5_dp*(0.4_dp + 0.02_dp*warm)
      s%cloud(k) = 0
      s%rain(k) = 0
    end do
    s%height(levels) = 0
    do k = levels - 1, 1, -1
      s%height(k) = s%height(k+1) + gas*s%temperature(k)/gravity*log(s%pressure(k+1)/s%pressure(k))
    end do
    s%ground = s%temperature(levels) + 1.0_dp
    s%precipitation = 0
  end subroutine

  elemental real(dp) function saturation(t, p) result(q)
    real(dp), intent(in) :: t, p
    real(dp) :: e
    if (t >= freezing) then
      e = 611.2_dp*exp(17.67_dp*(t - freezing)/(t - 29.65_dp))
    else
      e = 611.2_dp*exp(21.875_dp*(t - freezing)/(t - 7.66_dp))
    end if
    q = 0.622_dp*e/max(p - 0.378_dp*e, 1.0_dp)
  end function
end module
