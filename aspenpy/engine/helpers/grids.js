// Near-equal factors, as in grids.h: NAN where there are none.

function aspen_grid_factor(number, many, largest, axis, divisors) {
  if (many === 1) return number <= largest ? number : NAN;
  for (const factor of divisors) {
    if (factor > largest) break;
    if (number % factor !== 0 || factor ** many < number) continue;
    const last = aspen_grid_factor(number / factor, many - 1, factor, fmax(0, axis - 1), divisors);
    if (!isnan(last)) return axis === 0 ? factor : last;
  }
  return NAN;
}

function aspen_grid(number, many, axis) {
  const whole = [number, many, axis].every(Number.isInteger);
  if (!whole || !(number >= 1 && number <= 1e12 && many >= 1 && many <= 6 && axis >= 0 && axis < many)) return NAN;
  const small = [], large = [];
  for (let divisor = 1; divisor * divisor <= number; divisor++) {
    if (number % divisor !== 0) continue;
    small.push(divisor);
    if (divisor * divisor !== number) large.unshift(number / divisor);
  }
  return aspen_grid_factor(number, many, number, axis, [...small, ...large]);
}
