! Associated Legendre functions, normalised, by their recurrences, and the nodes and weights of Gauss.
module legendre
  use kinds
  implicit none
  type :: basis
    integer :: truncation, latitudes
    real(dp), allocatable :: sine(:), weight(:)
    real(dp), allocatable :: p(:, :, :)  ! degree, order, latitude
  end type
contains
  subroutine find_nodes(n, x, w)
    integer, intent(in) :: n
    real(dp), intent(out) :: x(n), w(n)
    integer :: i, k, iteration
    real(dp) :: z, p0, p1, p2, slope
    do i = 1, n
      z = cos(pi*(i - 0.25_dp)/(n + 0.5_dp))
      do iteration = 1, 8
        p0 = 1
        p1 = z
        do k = 2, n
          p2 = ((2*k - 1)*z*p1 - (k - 1)*p0)/k
          p0 = p1
          p1 = p2
        end do
        slope = n*(z*p1 - p0)/(z*z - 1)
        z = z - p1/slope
      end do
      x(i) = z
      w(i) = 2/((1 - z*z)*slope*slope)
    end do
  end subroutine

  subroutine make_basis(b, truncation, latitudes)
    type(basis), intent(out) :: b
    integer, intent(in) :: truncation, latitudes
    integer :: j, n, m
    real(dp) :: cosine, a
    b%truncation = truncation
    b%latitudes = latitudes
    allocate(b%sine(latitudes), b%weight(latitudes), b%p(0:truncation, 0:truncation, latitudes))
    call find_nodes(latitudes, b%sine, b%weight)
    b%p = 0
    do j = 1, latitudes
      cosine = sqrt(1 - b%sine(j)**2)
      b%p(0, 0, j) = sqrt(0.5_dp)
      do m = 1, truncation
        b%p(m, m, j) = -sqrt((2*m + 1)/(2.0_dp*m))*cosine*b%p(m - 1, m - 1, j)
      end do
      do m = 0, truncation - 1
        b%p(m + 1, m, j) = sqrt(2.0_dp*m + 3)*b%sine(j)*b%p(m, m, j)
        do n = m + 2, truncation
          a = sqrt(real((2*n + 1)*(2*n - 1), dp)/((n - m)*(n + m)))
          b%p(n, m, j) = a*(b%sine(j)*b%p(n - 1, m, j) &
            - sqrt(real((n - 1 - m)*(n - 1 + m), dp)/((2*n - 1)*(2*n - 3)))*b%p(n - 2, m, j))
        end do
      end do
    end do
  end subroutine
end module
