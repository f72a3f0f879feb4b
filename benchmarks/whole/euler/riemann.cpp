#include "state.hpp"

static Flux flux_of(const State &s) {
  return {s.rho * s.u, s.rho * s.u * s.u + s.p, s.rho * s.u * s.v, s.u * (energy_of(s) + s.p)};
}

Flux riemann(const State &left, const State &right) {
  double cl = std::sqrt(gamma_gas * left.p / left.rho), cr = std::sqrt(gamma_gas * right.p / right.rho);
  double slow = left.u - cl < right.u - cr ? left.u - cl : right.u - cr;
  double fast = left.u + cl > right.u + cr ? left.u + cl : right.u + cr;
  Flux a = flux_of(left), b = flux_of(right);
  if (slow >= 0) return a;
  if (fast <= 0) return b;
  double wide = 1 / (fast - slow), both = fast * slow;
  return {
      (fast * a.mass - slow * b.mass + both * (right.rho - left.rho)) * wide,
      (fast * a.along - slow * b.along + both * (right.rho * right.u - left.rho * left.u)) * wide,
      (fast * a.across - slow * b.across + both * (right.rho * right.v - left.rho * left.v)) * wide,
      (fast * a.energy - slow * b.energy + both * (energy_of(right) - energy_of(left))) * wide,
  };
}
