! Blocks of a block-tridiagonal system: their products with blocks and vectors, and their elimination.
module block_algebra
  use sizes, only: rk, parts
  implicit none
  private
  public :: subtract_product, subtract_vector, eliminate, eliminate_vector

contains

  ! r = r - a x
  subroutine subtract_vector(a, x, r)
    real(rk), intent(in) :: a(parts, parts), x(parts)
    real(rk), intent(inout) :: r(parts)
    integer :: i, j
    do i = 1, parts
      do j = 1, parts
        r(i) = r(i) - a(i, j)*x(j)
      end do
    end do
  end subroutine

  ! c = c - a b
  subroutine subtract_product(a, b, c)
    real(rk), intent(in) :: a(parts, parts), b(parts, parts)
    real(rk), intent(inout) :: c(parts, parts)
    integer :: i, j, k
    do j = 1, parts
      do i = 1, parts
        do k = 1, parts
          c(i, j) = c(i, j) - a(i, k)*b(k, j)
        end do
      end do
    end do
  end subroutine

  ! Gauss-Jordan without pivots of [d | c | r]
  subroutine eliminate(d, c, r)
    real(rk), intent(inout) :: d(parts, parts), c(parts, parts), r(parts)
    real(rk) :: pivot, factor
    integer :: p, i, j
    do p = 1, parts
      pivot = 1.0_rk/d(p, p)
      do j = p + 1, parts
        d(p, j) = d(p, j)*pivot
      end do
      do j = 1, parts
        c(p, j) = c(p, j)*pivot
      end do
      r(p) = r(p)*pivot
      do i = 1, parts
        if (i == p) cycle
        factor = d(i, p)
        do j = p + 1, parts
          d(i, j) = d(i, j) - factor*d(p, j)
        end do
        do j = 1, parts
          c(i, j) = c(i, j) - factor*c(p, j)
        end do
        r(i) = r(i) - factor*r(p)
      end do
    end do
  end subroutine

  subroutine eliminate_vector(d, r)
    real(rk), intent(inout) :: d(parts, parts), r(parts)
    real(rk) :: pivot, factor
    integer :: p, i, j
    do p = 1, parts
      pivot = 1.0_rk/d(p, p)
      do j = p + 1, parts
        d(p, j) = d(p, j)*pivot
      end do
      r(p) = r(p)*pivot
      do i = 1, parts
        if (i /= p) then
          factor = d(i, p)
          do j = p + 1, parts
            d(i, j) = d(i, j) - factor*d(p, j)
          end do
          r(i) = r(i) - factor*r(p)
        end if
      end do
    end do
  end subroutine

end module
