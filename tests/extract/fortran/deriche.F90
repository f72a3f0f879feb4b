#ifndef N
#define N 20
#endif
! Deriche's recursive edge filter, in single precision.
module shared_deriche
  implicit none
  integer, parameter :: n = N
  integer, parameter :: w = (n + 4)
  integer, parameter :: h = n
  real(4) :: in(0:n - 1, 0:n + 4 - 1)
  real(4) :: out(0:n - 1, 0:n + 4 - 1)
  real(4) :: forward(0:n - 1, 0:n + 4 - 1)
  real(4) :: backward(0:n - 1, 0:n + 4 - 1)
contains
  subroutine kernel(w_2, h_2, alpha)
    integer, intent(in) :: w_2
    integer, intent(in) :: h_2
    real(4), intent(in) :: alpha
    real(4) :: k
    real(4) :: a1
    real(4) :: a2
    real(4) :: a3
    real(4) :: a4
    real(4) :: b1
    real(4) :: b2
    real(4) :: c1
    real(4) :: c2
    real(4) :: xm1
    real(4) :: ym1
    real(4) :: ym2
    real(4) :: xp1
    real(4) :: xp2
    real(4) :: yp1
    real(4) :: yp2
    integer :: i
    integer :: j
    real(4) :: tm1
    real(4) :: tp1
    real(4) :: tp2
    k = (1.0 - exp((-alpha)))*(1.0 - exp((-alpha)))/(1.0 + 2.0*alpha*exp((-alpha)) - exp(2.0*alpha))
    a1 = k
    a2 = k*exp((-alpha))*(alpha - 1.0)
    a3 = k*exp((-alpha))*(alpha + 1.0)
    a4 = (-k)*exp(-2.0*alpha)
    b1 = 2.0**((-alpha))
    b2 = (-exp(-2.0*alpha))
    c1 = 1.0
    c2 = 1.0
    do i = 0, w_2 - 1
      ym1 = 0.0
      ym2 = 0.0
      xm1 = 0.0
      do j = 0, h_2 - 1
        forward(j, i) = a1*in(j, i) + a2*xm1 + b1*ym1 + b2*ym2
        xm1 = in(j, i)
        ym2 = ym1
        ym1 = forward(j, i)
      end do
    end do
    do i = 0, w_2 - 1
      xp2 = 0.0
      xp1 = xp2
      yp2 = xp1
      yp1 = yp2
      do j = h_2 - 1, 0, -1
        backward(j, i) = a3*xp1 + a4*xp2 + b1*yp1 + b2*yp2
        xp2 = xp1
        xp1 = in(j, i)
        yp2 = yp1
        yp1 = backward(j, i)
      end do
    end do
    do i = 0, w_2 - 1
      do j = 0, h_2 - 1
        out(j, i) = c1*(forward(j, i) + backward(j, i))
      end do
    end do
    do j = 0, h_2 - 1
      tm1 = 0.0
      ym1 = 0.0
      ym2 = 0.0
      do i = 0, w_2 - 1
        forward(j, i) = a1*out(j, i) + a2*tm1 + b1*ym1 + b2*ym2
        tm1 = out(j, i)
        ym2 = ym1
        ym1 = forward(j, i)
      end do
    end do
    do j = 0, h_2 - 1
      tp1 = 0.0
      tp2 = 0.0
      yp1 = 0.0
      yp2 = 0.0
      do i = w_2 - 1, 0, -1
        backward(j, i) = a3*tp1 + a4*tp2 + b1*yp1 + b2*yp2
        tp2 = tp1
        tp1 = out(j, i)
        yp2 = yp1
        yp1 = backward(j, i)
      end do
    end do
    do i = 0, w_2 - 1
      do j = 0, h_2 - 1
        out(j, i) = c2*(forward(j, i) + backward(j, i))
      end do
    end do
  end subroutine
end module
program main
  use shared_deriche
  implicit none
  call kernel(n + 4, n, 0.25)
end program
