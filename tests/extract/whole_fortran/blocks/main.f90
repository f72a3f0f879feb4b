! An implicit scheme with approximate factors: a right-hand side, three directions of lines, an update.
program blocks
  use sizes
  use line_solver, only: solve_lines
  implicit none
  real(rk) :: dt, norm(parts)
  integer :: sweep, direction, i, j, k

  call begin
  dt = 0.02_rk
  do sweep = 1, sweeps
    call find_right(dt)
    do direction = 1, 3
      call solve_lines(direction, dt)
    end do
    do concurrent (k = 2:points-1, j = 2:points-1, i = 2:points-1)
      field(:, i, j, k) = field(:, i, j, k) + right(:, i, j, k)
    end do
  end do
  norm = 0
  do k = 1, points
    do j = 1, points
      do i = 1, points
        norm = norm + right(:, i, j, k)**2
      end do
    end do
  end do
  norm = sqrt(norm/points**3)
  print *, norm

contains

  subroutine begin
    real(rk) :: x, y, z
    do k = 1, points
      z = real(k - 1, rk)/(points - 1)
      do j = 1, points
        y = real(j - 1, rk)/(points - 1)
        do i = 1, points
          x = real(i - 1, rk)/(points - 1)
          field(1, i, j, k) = 1.0_rk + 0.1_rk*x*(1 - y)
          field(2, i, j, k) = 0.2_rk*y*z
          field(3, i, j, k) = 0.2_rk*x*z
          field(4, i, j, k) = 0.1_rk*(x - y)
          field(5, i, j, k) = 2.5_rk + 0.3_rk*x*y*z
        end do
      end do
    end do
    right = 0
  end subroutine

  subroutine find_right(dt)
    real(rk), intent(in) :: dt
    integer :: m
    do k = 2, points - 1
      do j = 2, points - 1
        do i = 2, points - 1
          do m = 1, parts
            right(m, i, j, k) = dt*(field(m, i+1, j, k) - 2*field(m, i, j, k) + field(m, i-1, j, k) &
                                  + field(m, i, j+1, k) - 2*field(m, i, j, k) + field(m, i, j-1, k) &
                                  + field(m, i, j, k+1) - 2*field(m, i, j, k) + field(m, i, j, k-1))
          end do
        end do
      end do
    end do
  end subroutine

end program
