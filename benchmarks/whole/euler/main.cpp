#include "step.hpp"
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 150;
  int steps = argc > 2 ? std::atoi(argv[2]) : 40;
  Grid now(n, n), next(n, n);
  double h = 1.0 / n;
  for (int j = 1; j <= n; j++)
    for (int i = 1; i <= n; i++) {
      bool inside = (i - n / 2) * (i - n / 2) + (j - n / 2) * (j - n / 2) < n * n / 16;
      now.at(i, j) = {inside ? 1.0 : 0.125, 0, 0, inside ? 1.0 : 0.1};
    }
  double time = 0;
  for (int step = 0; step < steps; step++) {
    fill_edges(now);
    double dt = stable_step(now, h);
    advance(now, next, dt / h);
    std::swap(now, next);
    time += dt;
  }
  std::printf("time %g, density %g\n", time, now.at(n / 2, n / 2).rho);
  return 0;
}
