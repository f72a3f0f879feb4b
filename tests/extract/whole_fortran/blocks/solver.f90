! Lines of block-tridiagonal systems in each of three directions.
module line_solver
  use sizes
  use block_algebra
  implicit none

  type line
    real(rk) :: lower(parts, parts, points), diagonal(parts, parts, points), upper(parts, parts, points)
    real(rk) :: known(parts, points)
  end type

contains

  subroutine solve_lines(direction, dt)
    integer, intent(in) :: direction
    real(rk), intent(in) :: dt
    type(line), save :: work
    integer :: j, k
    do k = 2, points - 1
      do j = 2, points - 1
        call gather(direction, j, k, dt, work)
        call solve(work)
        call scatter(direction, j, k, work)
      end do
    end do
  end subroutine

  subroutine gather(direction, j, k, dt, work)
    integer, intent(in) :: direction, j, k
    real(rk), intent(in) :: dt
    type(line), intent(inout) :: work
    real(rk) :: state(parts), pressure, by_density
    integer :: i, m, n
    do i = 1, points
      select case (direction)
      case (1)
        state = field(:, i, j, k)
        work%known(:, i) = right(:, i, j, k)
      case (2)
        state = field(:, j, i, k)
        work%known(:, i) = right(:, j, i, k)
      case default
        state = field(:, j, k, i)
        work%known(:, i) = right(:, j, k, i)
      end select
      by_density = 1.0_rk/state(1)
      pressure = 0.4_rk*(state(5) - 0.5_rk*by_density*(state(2)**2 + state(3)**2 + state(4)**2))
      do n = 1, parts
        do m = 1, parts
          work%upper(m, n, i) = -0.1_rk*dt*state(m)*by_density
          work%lower(m, n, i) = 0.1_rk*dt*state(n)*by_density
          work%diagonal(m, n, i) = 0.05_rk*dt*pressure
        end do
        work%diagonal(n, n, i) = 1.0_rk + 2.0_rk*dt*by_density
      end do
    end do
  end subroutine

  subroutine solve(work)
    type(line), intent(inout) :: work
    integer :: i
    call eliminate(work%diagonal(:, :, 1), work%upper(:, :, 1), work%known(:, 1))
    do i = 2, points - 1
      call subtract_vector(work%lower(:, :, i), work%known(:, i-1), work%known(:, i))
      call subtract_product(work%lower(:, :, i), work%upper(:, :, i-1), work%diagonal(:, :, i))
      call eliminate(work%diagonal(:, :, i), work%upper(:, :, i), work%known(:, i))
    end do
    call subtract_vector(work%lower(:, :, points), work%known(:, points-1), work%known(:, points))
    call subtract_product(work%lower(:, :, points), work%upper(:, :, points-1), work%diagonal(:, :, points))
    call eliminate_vector(work%diagonal(:, :, points), work%known(:, points))
    do i = points - 1, 1, -1
      call subtract_vector(work%upper(:, :, i), work%known(:, i+1), work%known(:, i))
    end do
  end subroutine

  subroutine scatter(direction, j, k, work)
    integer, intent(in) :: direction, j, k
    type(line), intent(in) :: work
    integer :: i
    do i = 1, points
      select case (direction)
      case (1)
        right(:, i, j, k) = work%known(:, i)
      case (2)
        right(:, j, i, k) = work%known(:, i)
      case default
        right(:, j, k, i) = work%known(:, i)
      end select
    end do
  end subroutine

end module
