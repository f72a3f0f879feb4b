! Diffusion on a sphere: a field on latitudes and longitudes goes to spherical harmonics and back in each step.
program spectral
  use kinds
  use legendre
  use fourier
  implicit none
  integer, parameter :: truncation = 10, latitudes = 16, longitudes = 32, steps = 3
  type(basis) :: b
  real(dp) :: field(longitudes, latitudes), rate
  complex(dp) :: harmonics(0:truncation, 0:truncation), line(0:longitudes-1), whole
  integer :: i, j, m, n, step

  call make_basis(b, truncation, latitudes)
  do j = 1, latitudes
    do i = 1, longitudes
      field(i, j) = b%sine(j)*b%sine(j) + 0.1_dp*i
    end do
  end do
  rate = 0.01_dp
  do step = 1, steps
    harmonics = 0
    do j = 1, latitudes
      line = field(:, j)
      call transform(line, longitudes, -1)
      do m = 0, truncation
        whole = b%weight(j)*line(m)/longitudes
        do n = m, truncation
          harmonics(n, m) = harmonics(n, m) + b%p(n, m, j)*whole
        end do
      end do
    end do
    do m = 0, truncation
      do n = m, truncation
        harmonics(n, m) = harmonics(n, m)/(1 + rate*n*(n + 1))
      end do
    end do
    do j = 1, latitudes
      line = 0
      do m = 0, truncation
        whole = 0
        do n = m, truncation
          whole = whole + b%p(n, m, j)*harmonics(n, m)
        end do
        line(m) = whole
        if (m > 0) line(longitudes - m) = conjg(whole)
      end do
      call transform(line, longitudes, 1)
      field(:, j) = real(line, dp)
    end do
  end do
  print *, sum(field)
end program
