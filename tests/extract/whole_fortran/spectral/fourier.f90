! Transforms of Fourier of a power of two, in place.
module fourier
  use kinds
  implicit none
contains
  subroutine swap_bits(x, n)
    integer, intent(in) :: n
    complex(dp), intent(inout) :: x(0:n-1)
    complex(dp) :: held
    integer :: i, j, k
    j = 0
    do i = 0, n - 2
      if (i < j) then
        held = x(i)
        x(i) = x(j)
        x(j) = held
      end if
      k = n/2
      do while (k <= j)
        j = j - k
        k = k/2
      end do
      j = j + k
    end do
  end subroutine

  subroutine transform(x, n, direction)
    integer, intent(in) :: n, direction
    complex(dp), intent(inout) :: x(0:n-1)
    complex(dp) :: factor, step, held
    integer :: span, first, k
    call swap_bits(x, n)
    span = 1
    do while (span < n)
      step = cmplx(cos(pi/span), direction*sin(pi/span), dp)
      do first = 0, n - 1, 2*span
        factor = (1, 0)
        do k = first, first + span - 1
          held = factor*x(k + span)
          x(k + span) = x(k) - held
          x(k) = x(k) + held
          factor = factor*step
        end do
      end do
      span = 2*span
    end do
  end subroutine
end module
