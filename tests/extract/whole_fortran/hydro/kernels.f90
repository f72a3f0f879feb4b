! The kernels of one step on the arrays of a chunk.
module kernels
  use grid, only: wp, gamma
  implicit none

contains

  subroutine ideal_gas(nx, ny, density, energy, pressure, sound)
    integer, intent(in) :: nx, ny
    real(wp), intent(in) :: density(-1:nx+2, -1:ny+2), energy(-1:nx+2, -1:ny+2)
    real(wp), intent(out) :: pressure(-1:nx+2, -1:ny+2), sound(-1:nx+2, -1:ny+2)
    real(wp) :: v, by_energy, by_volume
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        v = 1.0_wp/density(i, j)
        pressure(i, j) = (gamma - 1.0_wp)*density(i, j)*energy(i, j)
        by_energy = (gamma - 1.0_wp)*density(i, j)
        by_volume = -density(i, j)*pressure(i, j)
        sound(i, j) = sqrt(v*v*(pressure(i, j)*by_energy - by_volume))
      end do
    end do
  end subroutine

  subroutine find_viscosity(nx, ny, dx, dy, density, u, v, pressure, viscosity)
    integer, intent(in) :: nx, ny
    real(wp), intent(in) :: dx, dy
    real(wp), intent(in) :: density(-1:nx+2, -1:ny+2), pressure(-1:nx+2, -1:ny+2)
    real(wp), intent(in) :: u(-1:nx+3, -1:ny+3), v(-1:nx+3, -1:ny+3)
    real(wp), intent(out) :: viscosity(-1:nx+2, -1:ny+2)
    real(wp) :: ugrad, vgrad, divergence, strain, px, py, length
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        ugrad = (u(i+1, j) + u(i+1, j+1)) - (u(i, j) + u(i, j+1))
        vgrad = (v(i, j+1) + v(i+1, j+1)) - (v(i, j) + v(i+1, j))
        divergence = dy*ugrad + dx*vgrad
        strain = 0.5_wp*(u(i, j+1) + u(i+1, j+1) - u(i, j) - u(i+1, j))/dy &
               + 0.5_wp*(v(i+1, j) + v(i+1, j+1) - v(i, j) - v(i, j+1))/dx
        if (divergence < 0.0_wp) then
          px = (pressure(i+1, j) - pressure(i-1, j))/(2.0_wp*dx)
          py = (pressure(i, j+1) - pressure(i, j-1))/(2.0_wp*dy)
          length = sqrt(dx*dx + dy*dy)/(1.0_wp + abs(px) + abs(py))
          viscosity(i, j) = 2.0_wp*density(i, j)*(length*divergence)**2 + 0.01_wp*strain*strain
        else
          viscosity(i, j) = 0.0_wp
        end if
      end do
    end do
  end subroutine

  real(wp) function find_step(nx, ny, dx, dy, sound, viscosity, density, u, v) result(dt)
    integer, intent(in) :: nx, ny
    real(wp), intent(in) :: dx, dy
    real(wp), intent(in) :: sound(-1:nx+2, -1:ny+2), viscosity(-1:nx+2, -1:ny+2), density(-1:nx+2, -1:ny+2)
    real(wp), intent(in) :: u(-1:nx+3, -1:ny+3), v(-1:nx+3, -1:ny+3)
    real(wp) :: cc, shortest, along
    integer :: i, j
    shortest = 1.0e30_wp
    do j = 1, ny
      do i = 1, nx
        cc = sound(i, j)*sound(i, j) + 2.0_wp*viscosity(i, j)/density(i, j)
        cc = max(sqrt(cc), 1.0e-16_wp)
        along = 0.7_wp*min(dx, dy)/(cc + abs(u(i, j)) + abs(v(i, j)))
        if (along < shortest) shortest = along
      end do
    end do
    dt = shortest
  end function

  subroutine compress(nx, ny, dt, dx, dy, u, v, pressure, viscosity, density, density_new, energy, energy_new)
    integer, intent(in) :: nx, ny
    real(wp), intent(in) :: dt, dx, dy
    real(wp), intent(in) :: u(-1:nx+3, -1:ny+3), v(-1:nx+3, -1:ny+3)
    real(wp), intent(in) :: pressure(-1:nx+2, -1:ny+2), viscosity(-1:nx+2, -1:ny+2)
    real(wp), intent(in) :: density(-1:nx+2, -1:ny+2), energy(-1:nx+2, -1:ny+2)
    real(wp), intent(out) :: density_new(-1:nx+2, -1:ny+2), energy_new(-1:nx+2, -1:ny+2)
    real(wp) :: left, right, bottom, top, total, change, volume
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        left = dy*(u(i, j) + u(i, j+1))*0.5_wp*dt
        right = dy*(u(i+1, j) + u(i+1, j+1))*0.5_wp*dt
        bottom = dx*(v(i, j) + v(i+1, j))*0.5_wp*dt
        top = dx*(v(i, j+1) + v(i+1, j+1))*0.5_wp*dt
        total = right - left + top - bottom
        volume = dx*dy
        change = volume/(volume + total)
        energy_new(i, j) = energy(i, j) - (pressure(i, j)/density(i, j) + viscosity(i, j)/density(i, j))*total/volume
        density_new(i, j) = density(i, j)*change
      end do
    end do
  end subroutine

  subroutine accelerate(nx, ny, dt, dx, dy, density, pressure, viscosity, u, v, u_new, v_new)
    integer, intent(in) :: nx, ny
    real(wp), intent(in) :: dt, dx, dy
    real(wp), intent(in) :: density(-1:nx+2, -1:ny+2), pressure(-1:nx+2, -1:ny+2), viscosity(-1:nx+2, -1:ny+2)
    real(wp), intent(in) :: u(-1:nx+3, -1:ny+3), v(-1:nx+3, -1:ny+3)
    real(wp), intent(out) :: u_new(-1:nx+3, -1:ny+3), v_new(-1:nx+3, -1:ny+3)
    real(wp) :: node, by_mass
    integer :: i, j
    do j = 1, ny + 1
      do i = 1, nx + 1
        node = 0.25_wp*(density(i-1, j-1) + density(i, j-1) + density(i, j) + density(i-1, j))*dx*dy
        by_mass = 0.5_wp*dt/node
        u_new(i, j) = u(i, j) - by_mass*(dy*(pressure(i, j) - pressure(i-1, j)) + dy*(pressure(i, j-1) - pressure(i-1, j-1)))
        v_new(i, j) = v(i, j) - by_mass*(dx*(pressure(i, j) - pressure(i, j-1)) + dx*(pressure(i-1, j) - pressure(i-1, j-1)))
        u_new(i, j) = u_new(i, j) - by_mass*dy*(viscosity(i, j) - viscosity(i-1, j))
        v_new(i, j) = v_new(i, j) - by_mass*dx*(viscosity(i, j) - viscosity(i, j-1))
      end do
    end do
  end subroutine

  subroutine find_fluxes(nx, ny, dt, dx, dy, u, u_new, v, v_new, flux_x, flux_y)
    integer, intent(in) :: nx, ny
    real(wp), intent(in) :: dt, dx, dy
    real(wp), dimension(-1:nx+3, -1:ny+3), intent(in) :: u, u_new, v, v_new
    real(wp), dimension(-1:nx+3, -1:ny+3), intent(out) :: flux_x, flux_y
    integer :: i, j
    do j = 1, ny + 1
      do i = 1, nx + 1
        flux_x(i, j) = 0.25_wp*dt*dy*(u(i, j) + u(i, j+1) + u_new(i, j) + u_new(i, j+1))
        flux_y(i, j) = 0.25_wp*dt*dx*(v(i, j) + v(i+1, j) + v_new(i, j) + v_new(i+1, j))
      end do
    end do
  end subroutine

  subroutine advect_rows(nx, ny, volume, flux_x, mass_flux, density, energy)
    integer, intent(in) :: nx, ny
    real(wp), intent(in) :: volume
    real(wp), intent(in) :: flux_x(-1:nx+3, -1:ny+3)
    real(wp), intent(inout) :: mass_flux(-1:nx+3, -1:ny+3)
    real(wp), intent(inout) :: density(-1:nx+2, -1:ny+2), energy(-1:nx+2, -1:ny+2)
    real(wp) :: courant, slope_up, slope_down, limiter, before, after
    integer :: i, j, upwind, donor, downwind
    do j = 1, ny
      do i = 1, nx + 1
        if (flux_x(i, j) > 0.0_wp) then
          upwind = i - 2
          donor = i - 1
          downwind = i
        else
          upwind = min(i + 1, nx + 2)
          donor = i
          downwind = i - 1
        end if
        courant = abs(flux_x(i, j))/volume
        slope_up = density(donor, j) - density(upwind, j)
        slope_down = density(downwind, j) - density(donor, j)
        limiter = 0.0_wp
        if (slope_up*slope_down > 0.0_wp) then
          limiter = (1.0_wp - courant)*sign(1.0_wp, slope_down)*min(abs(slope_up), abs(slope_down))
        end if
        mass_flux(i, j) = flux_x(i, j)*(density(donor, j) + 0.5_wp*limiter)
      end do
    end do
    do j = 1, ny
      do i = 1, nx
        before = density(i, j)*volume
        after = before + mass_flux(i, j) - mass_flux(i+1, j)
        energy(i, j) = energy(i, j)*before/after
        density(i, j) = after/volume
      end do
    end do
  end subroutine

  subroutine update_halo(nx, ny, extra, field)
    integer, intent(in) :: nx, ny, extra
    real(wp), intent(inout) :: field(-1:nx+2+extra, -1:ny+2+extra)
    integer :: i, k
    do k = 1, 2
      do i = -1, nx + 2
        field(i, 1-k) = field(i, k)
        field(i, ny+extra+k) = field(i, ny+extra+1-k)
      end do
    end do
    do k = 1, 2
      field(1-k, :) = field(k, :)
      field(nx+extra+k, :) = field(nx+extra+1-k, :)
    end do
  end subroutine

end module
