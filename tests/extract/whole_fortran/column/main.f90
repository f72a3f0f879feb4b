program column
  use constants
  use atmosphere
  use physics
  implicit none
  type(column_state), allocatable :: all_columns(:)
  real(dp) :: dt, total, warmest
  integer :: c, t, passes, most

  allocate (all_columns(columns))
  dt = 600
  most = 0
  do c = 1, columns
    call set_column(all_columns(c), c)
  end do
  do t = 1, steps
    do c = 1, columns
      call radiate(all_columns(c), dt)
      call adjust(all_columns(c), passes)
      most = max(most, passes)
      call condense(all_columns(c), dt)
      call mix(all_columns(c)%temperature, all_columns(c)%height, dt)
      call mix(all_columns(c)%vapour, all_columns(c)%height, dt)
    end do
  end do
  total = 0
  warmest = 0
  do c = 1, columns
    total = total + all_columns(c)%precipitation
    warmest = max(warmest, maxval(all_columns(c)%temperature))
  end do
  print *, total, warmest, most
end program
