! Kinds, the grid and its fields.
module grid
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: wp = real64
  integer, parameter :: cells_x = 36, cells_y = 28, steps = 6
  real(wp), parameter :: gamma = 1.4_wp

  type chunk
    real(wp), allocatable :: density(:, :), energy(:, :), pressure(:, :), viscosity(:, :), sound(:, :)
    real(wp), allocatable :: density_new(:, :), energy_new(:, :)
    real(wp), allocatable :: u(:, :), v(:, :), u_new(:, :), v_new(:, :)
    real(wp), allocatable :: flux_x(:, :), flux_y(:, :), mass_flux(:, :)
    real(wp) :: dx, dy
  end type

contains

  subroutine make_chunk(c)
    type(chunk), intent(out) :: c
    integer :: i, j
    allocate (c%density(-1:cells_x+2, -1:cells_y+2), c%energy(-1:cells_x+2, -1:cells_y+2))
    allocate (c%pressure(-1:cells_x+2, -1:cells_y+2), c%viscosity(-1:cells_x+2, -1:cells_y+2))
    allocate (c%sound(-1:cells_x+2, -1:cells_y+2))
    allocate (c%density_new(-1:cells_x+2, -1:cells_y+2), c%energy_new(-1:cells_x+2, -1:cells_y+2))
    allocate (c%u(-1:cells_x+3, -1:cells_y+3), c%v(-1:cells_x+3, -1:cells_y+3))
    allocate (c%u_new(-1:cells_x+3, -1:cells_y+3), c%v_new(-1:cells_x+3, -1:cells_y+3))
    allocate (c%flux_x(-1:cells_x+3, -1:cells_y+3), c%flux_y(-1:cells_x+3, -1:cells_y+3))
    allocate (c%mass_flux(-1:cells_x+3, -1:cells_y+3))
    c%dx = 10.0_wp/cells_x
    c%dy = 10.0_wp/cells_y
    do j = -1, cells_y + 2
      do i = -1, cells_x + 2
        c%density(i, j) = 0.2_wp
        c%energy(i, j) = 1.0_wp
        if (i <= cells_x/3 .and. j <= cells_y/2) then
          c%density(i, j) = 1.0_wp
          c%energy(i, j) = 2.5_wp
        end if
      end do
    end do
    c%pressure = 0
    c%viscosity = 0
    c%sound = 0
    c%u = 0
    c%v = 0
    c%flux_x = 0
    c%flux_y = 0
  end subroutine

end module
