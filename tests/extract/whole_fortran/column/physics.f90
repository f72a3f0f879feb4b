! Radiation, convection, microphysics and mixing of one column.
module physics
  use constants
  use atmosphere
  implicit none
  private
  public :: radiate, adjust, condense, mix
contains

  subroutine radiate(s, dt)
    type(column_state), intent(inout) :: s
    real(dp), intent(in) :: dt
    real(dp), dimension(0:levels) :: up, down
    real(dp) :: emissivity(levels), source
    integer :: k
    do k = 1, levels
      emissivity(k) = min(0.95_dp, 0.05_dp + 40.0_dp*s%vapour(k))
      if (s%cloud(k) > 1.0e-6_dp) emissivity(k) = min(1.0_dp, emissivity(k) + 0.3_dp)
    end do
    down(0) = 0
    do k = 1, levels
      source = emissivity(k)*stefan*s%temperature(k)**4
      down(k) = down(k-1)*(1.0_dp - emissivity(k)) + source
    end do
    up(levels) = stefan*s%ground**4
    do k = levels, 1, -1
      up(k-1) = up(k)*(1.0_dp - emissivity(k)) + emissivity(k)*stefan*s%temperature(k)**4
    end do
    do k = 1, levels
      s%temperature(k) = s%temperature(k) + dt*gravity*levels/(heat*1.0e5_dp)*(up(k) - up(k-1) + down(k-1) - down(k))
    end do
  end subroutine

  subroutine adjust(s, passes)
    type(column_state), intent(inout) :: s
    integer, intent(out) :: passes
    real(dp) :: lapse, thickness, mean
    logical :: changed
    integer :: k
    passes = 0
    changed = .true.
    do while (changed .and. passes < 30)
      changed = .false.
      passes = passes + 1
      do k = levels, 2, -1
        thickness = s%height(k-1) - s%height(k)
        lapse = (s%temperature(k) - s%temperature(k-1))/thickness
        if (lapse > 0.0065_dp) then
          mean = 0.5_dp*(s%temperature(k) + s%temperature(k-1))
          s%temperature(k) = mean + 0.5_dp*0.0065_dp*thickness
          s%temperature(k-1) = mean - 0.5_dp*0.0065_dp*thickness
          if (lapse > 0.00655_dp) changed = .true.
        end if
      end do
    end do
  end subroutine

  subroutine condense(s, dt)
    type(column_state), intent(inout) :: s
    real(dp), intent(in) :: dt
    real(dp) :: limit, excess, slope, rate, flux
    integer :: k
    flux = 0
    levels_down: do k = 1, levels
      limit = saturation(s%temperature(k), s%pressure(k))
      if (s%vapour(k) <= limit .and. s%cloud(k) <= 0.0_dp .and. flux <= 0.0_dp) cycle levels_down
      if (s%vapour(k) > limit) then
        slope = limit*latent*latent/(heat*461.5_dp*s%temperature(k)*s%temperature(k))
        excess = (s%vapour(k) - limit)/(1.0_dp + slope)
        s%vapour(k) = s%vapour(k) - excess
        s%cloud(k) = s%cloud(k) + excess
        s%temperature(k) = s%temperature(k) + latent/heat*excess
      else if (s%cloud(k) > 0.0_dp) then
        excess = min(s%cloud(k), limit - s%vapour(k))
        s%vapour(k) = s%vapour(k) + excess
        s%cloud(k) = s%cloud(k) - excess
      end if
      if (s%cloud(k) > 5.0e-4_dp) then
        rate = 1.0e-3_dp*(s%cloud(k) - 5.0e-4_dp)*dt
        s%cloud(k) = s%cloud(k) - rate
        flux = flux + rate
      end if
      s%rain(k) = flux
    end do levels_down
    s%precipitation = s%precipitation + flux
  end subroutine

  ! Implicit diffusion of a profile: a tridiagonal system.
  subroutine mix(profile, height, dt)
    real(dp), intent(inout) :: profile(:)
    real(dp), intent(in) :: height(:), dt
    real(dp), dimension(size(profile)) :: lower, diagonal, upper, right
    real(dp) :: exchange, factor
    integer :: k, n
    n = size(profile)
    lower(1) = 0
    upper(n) = 0
    diagonal = 1
    do k = 2, n
      exchange = 10.0_dp*exp(-height(k)/1000.0_dp)*dt/(height(k-1) - height(k))**2
      lower(k) = -exchange
      upper(k-1) = -exchange
      diagonal(k) = diagonal(k) + exchange
      diagonal(k-1) = diagonal(k-1) + exchange
    end do
    right = profile
    do k = 2, n
      factor = lower(k)/diagonal(k-1)
      diagonal(k) = diagonal(k) - factor*upper(k-1)
      right(k) = right(k) - factor*right(k-1)
    end do
    profile(n) = right(n)/diagonal(n)
    do k = n - 1, 1, -1
      profile(k) = (right(k) - upper(k)*profile(k+1))/diagonal(k)
    end do
  end subroutine

end module
