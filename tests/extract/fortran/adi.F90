#ifndef N
#define N 16
#endif
#ifndef STEPS
#define STEPS 3
#endif
! Heat in two dimensions by alternating directions.
module shared_adi
  implicit none
  integer, parameter :: n = N
  integer, parameter :: steps = STEPS
  real(8) :: u(0:n - 1, 0:n - 1)
  real(8) :: v(0:n - 1, 0:n - 1)
  real(8) :: p(0:n - 1, 0:n - 1)
  real(8) :: q(0:n - 1, 0:n - 1)
contains
  subroutine kernel(tsteps, n_2)
    integer, intent(in) :: tsteps
    integer, intent(in) :: n_2
    real(8) :: dx
    real(8) :: dy
    real(8) :: dt
    real(8) :: mul1
    real(8) :: mul2
    real(8) :: a
    real(8) :: b
    real(8) :: c
    real(8) :: d
    real(8) :: e
    real(8) :: f
    integer :: t
    integer :: i
    integer :: j
    dx = 1.0d0/dble(n_2)
    dy = 1.0d0/dble(n_2)
    dt = 1.0d0/dble(tsteps)
    mul1 = 2.0d0*dt/(dx*dx)
    mul2 = 1.0d0*dt/(dy*dy)
    a = (-mul1)/2.0d0
    b = 1.0d0 + mul1
    c = a
    d = (-mul2)/2.0d0
    e = 1.0d0 + mul2
    f = d
    do t = 1, tsteps
      do i = 1, n_2 - 2
        v(i, 0) = 1.0d0
        p(0, i) = 0.0d0
        q(0, i) = v(i, 0)
        do j = 1, n_2 - 2
          p(j, i) = (-c)/(a*p(j - 1, i) + b)
          q(j, i) = ((-d)*u(i - 1, j) + (1.0d0 + 2.0d0*d)*u(i, j) - f*u(i + 1, j) - a*q(j - 1, i))/(a*p(j - 1, i) + b)
        end do
        v(i, n_2 - 1) = 1.0d0
        do j = n_2 - 2, 1, -1
          v(i, j) = p(j, i)*v(i, j + 1) + q(j, i)
        end do
      end do
      do i = 1, n_2 - 2
        u(0, i) = 1.0d0
        p(0, i) = 0.0d0
        q(0, i) = u(0, i)
        do j = 1, n_2 - 2
          p(j, i) = (-f)/(d*p(j - 1, i) + e)
          q(j, i) = ((-a)*v(j, i - 1) + (1.0d0 + 2.0d0*a)*v(j, i) - c*v(j, i + 1) - d*q(j - 1, i))/(d*p(j - 1, i) + e)
        end do
        u(n_2 - 1, i) = 1.0d0
        do j = n_2 - 2, 1, -1
          u(j, i) = p(j, i)*u(j + 1, i) + q(j, i)
        end do
      end do
    end do
  end subroutine
end module
program main
  use shared_adi
  implicit none
  call kernel(steps, n)
end program
