#include "step.hpp"

double stable_step(const Grid &grid, double h) {
  double fastest = 0;
  for (int j = 1; j <= grid.ny(); j++)
    for (int i = 1; i <= grid.nx(); i++) {
      const State &s = grid.at(i, j);
      double speed = std::sqrt(gamma_gas * s.p / s.rho) + std::fabs(s.u) + std::fabs(s.v);
      if (speed > fastest) fastest = speed;
    }
  return 0.4 * h / fastest;
}

void fill_edges(Grid &grid) {
  for (int j = 0; j <= grid.ny() + 1; j++) {
    grid.at(0, j) = grid.at(1, j);
    grid.at(grid.nx() + 1, j) = grid.at(grid.nx(), j);
  }
  for (int i = 0; i <= grid.nx() + 1; i++) {
    grid.at(i, 0) = grid.at(i, 1);
    grid.at(i, grid.ny() + 1) = grid.at(i, grid.ny());
  }
}

static State turned(const State &s) { return {s.rho, s.v, s.u, s.p}; }

void advance(const Grid &from, Grid &to, double ratio) {
  for (int j = 1; j <= from.ny(); j++)
    for (int i = 1; i <= from.nx(); i++) {
      const State &s = from.at(i, j);
      Flux west = riemann(from.at(i - 1, j), s), east = riemann(s, from.at(i + 1, j));
      Flux south = riemann(turned(from.at(i, j - 1)), turned(s)), north = riemann(turned(s), turned(from.at(i, j + 1)));
      double rho = s.rho + ratio * (west.mass - east.mass + south.mass - north.mass);
      double mu = s.rho * s.u + ratio * (west.along - east.along + south.across - north.across);
      double mv = s.rho * s.v + ratio * (west.across - east.across + south.along - north.along);
      double e = energy_of(s) + ratio * (west.energy - east.energy + south.energy - north.energy);
      double u = mu / rho, v = mv / rho;
      to.at(i, j) = {rho, u, v, (gamma_gas - 1) * (e - 0.5 * rho * (u * u + v * v))};
    }
}
