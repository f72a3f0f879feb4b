! Nussinov's folding of RNA: the most pairs, by dynamic programming.
#ifndef N
#define N 24
#endif
module folding
  implicit none
  integer(1) :: sequence_(N)
  integer :: table(N, N)
contains
  subroutine kernel(n)
    integer, intent(in) :: n
    integer :: i, j, k
    do i = n, 1, -1
      do j = i + 1, n
        if (j >= 2) table(j, i) = max(table(j, i), table(j - 1, i))
        if (i + 1 <= n) table(j, i) = max(table(j, i), table(j, i + 1))
        if (j >= 2 .and. i + 1 <= n) then
          if (i < j - 1) then
            table(j, i) = max(table(j, i), table(j - 1, i + 1) + merge(1, 0, sequence_(i) + sequence_(j) == 3))
          else
            table(j, i) = max(table(j, i), table(j - 1, i + 1))
          end if
        end if
        do k = i + 1, j - 1
          table(j, i) = max(table(j, i), table(k, i) + table(j, k + 1))
        end do
      end do
    end do
  end subroutine
end module
program main
  use folding
  integer :: place
  do place = 1, N
    sequence_(place) = int(mod(place, 4), 1)
  end do
  call kernel(N)
  print *, table(N, 1)
end program
