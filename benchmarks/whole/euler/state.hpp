#pragma once
#include <cmath>
#include <vector>

struct State {
  double rho, u, v, p;
};

struct Flux {
  double mass, along, across, energy;
};

constexpr double gamma_gas = 1.4;

inline double energy_of(const State &s) {
  return s.p / (gamma_gas - 1) + 0.5 * s.rho * (s.u * s.u + s.v * s.v);
}

class Grid {
public:
  Grid(int nx, int ny) : nx_(nx), ny_(ny), cells_((nx + 2) * (ny + 2)) {}
  int nx() const { return nx_; }
  int ny() const { return ny_; }
  State &at(int i, int j) { return cells_[j * (nx_ + 2) + i]; }
  const State &at(int i, int j) const { return cells_[j * (nx_ + 2) + i]; }

private:
  int nx_, ny_;
  std::vector<State> cells_;
};

Flux riemann(const State &left, const State &right);
