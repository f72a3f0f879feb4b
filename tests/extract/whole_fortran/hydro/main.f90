! A shock that leaves a corner, on a staggered grid.
program hydro
  use grid
  use kernels
  implicit none
  type(chunk) :: c
  real(wp) :: dt, mass, inner
  integer :: step

  call make_chunk(c)
  do step = 1, steps
    call ideal_gas(cells_x, cells_y, c%density, c%energy, c%pressure, c%sound)
    call update_halo(cells_x, cells_y, 0, c%pressure)
    call find_viscosity(cells_x, cells_y, c%dx, c%dy, c%density, c%u, c%v, c%pressure, c%viscosity)
    call update_halo(cells_x, cells_y, 0, c%viscosity)
    dt = find_step(cells_x, cells_y, c%dx, c%dy, c%sound, c%viscosity, c%density, c%u, c%v)
    call compress(cells_x, cells_y, dt, c%dx, c%dy, c%u, c%v, c%pressure, c%viscosity, &
                  c%density, c%density_new, c%energy, c%energy_new)
    call update_halo(cells_x, cells_y, 0, c%density)
    call accelerate(cells_x, cells_y, dt, c%dx, c%dy, c%density, c%pressure, c%viscosity, c%u, c%v, c%u_new, c%v_new)
    call update_halo(cells_x, cells_y, 1, c%u_new)
    call update_halo(cells_x, cells_y, 1, c%v_new)
    call find_fluxes(cells_x, cells_y, dt, c%dx, c%dy, c%u, c%u_new, c%v, c%v_new, c%flux_x, c%flux_y)
    call advect_rows(cells_x, cells_y, c%dx*c%dy, c%flux_x, c%mass_flux, c%density_new, c%energy_new)
    call reset(c)
  end do
  call summarise(c, mass, inner)
  print *, dt, mass, inner

contains

  subroutine reset(c)
    type(chunk), intent(inout) :: c
    c%density(1:cells_x, 1:cells_y) = c%density_new(1:cells_x, 1:cells_y)
    c%energy(1:cells_x, 1:cells_y) = c%energy_new(1:cells_x, 1:cells_y)
    c%u = c%u_new
    c%v = c%v_new
  end subroutine

  subroutine summarise(c, mass, inner)
    type(chunk), intent(in) :: c
    real(wp), intent(out) :: mass, inner
    integer :: i, j
    mass = sum(c%density(1:cells_x, 1:cells_y))*c%dx*c%dy
    inner = 0
    do j = 1, cells_y
      do i = 1, cells_x
        inner = inner + c%density(i, j)*c%energy(i, j)
      end do
    end do
  end subroutine

end program
