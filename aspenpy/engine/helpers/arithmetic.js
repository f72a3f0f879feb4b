// What a formula needs besides Math; the laws are those of arithmetic.h. A value that is not finite is none, and no
// function makes a finite one of it. A condition is true or 1, false or 0, or -1 where it could not be decided.

function aspen_exp(x) {
  return isfinite(x) ? exp(x) : NAN;
}

function aspen_max(a, b) {
  return isfinite(a) && isfinite(b) ? (a > b ? a : b) : NAN;
}

function aspen_min(a, b) {
  return isfinite(a) && isfinite(b) ? (a < b ? a : b) : NAN;
}

function aspen_larger(a, b) {
  return a > b ? a : b;
}

function aspen_smaller(a, b) {
  return a < b ? a : b;
}

function aspen_divide(a, b) {
  return isfinite(b) ? a / b : NAN;
}

function aspen_power(base, exponent) {
  return isfinite(base) && isfinite(exponent) ? pow(base, exponent) : NAN;
}

function aspen_root(x, degree) {
  const root = degree === 3 ? cbrt(x) : pow(x, 1 / degree), near = rint(root);
  return x < 0 ? NAN : pow(near, degree) === x ? near : root;
}

function aspen_mod(a, b) {
  const rest = isfinite(b) ? a % b : NAN;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
}

function aspen_passes(count, most) {
  return count <= most ? ceil(count) : NAN;
}

function aspen_element(array, length, index) {
  const place = trunc(index);
  return place >= 0 && place < length ? array[place] : NAN;
}

function aspen_cell(table, rows, columns, row, column) {
  const down = trunc(row), across = trunc(column);
  return down >= 0 && down < rows && across >= 0 && across < columns ? table[down * columns + across] : NAN;
}

function aspen_complete(array, length, value) {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += array[i] - array[i];
  return value + sum;
}

function aspen_lookup(values, sizes, count, x) {
  let found = values[0] + 0 * x;
  for (let i = 1; i < count; i++) {
    const run = sizes[i] - sizes[i - 1], rise = values[i] - values[i - 1];
    const line = values[i - 1] + (rise * (x - sizes[i - 1])) / run;
    if (!(run > 0)) return NAN;
    found = i === 1 || x >= sizes[i - 1] ? line : found;
  }
  return found;
}

function aspen_equal(a, b) {
  return isfinite(a) && isfinite(b) ? +(a === b) : -1;
}

function aspen_unequal(a, b) {
  return isfinite(a) && isfinite(b) ? +(a !== b) : -1;
}

function aspen_less(a, b) {
  return isfinite(a) && isfinite(b) ? +(a < b) : -1;
}

function aspen_greater(a, b) {
  return isfinite(a) && isfinite(b) ? +(a > b) : -1;
}

function aspen_at_most(a, b) {
  return isfinite(a) && isfinite(b) ? +(a <= b) : -1;
}

function aspen_at_least(a, b) {
  return isfinite(a) && isfinite(b) ? +(a >= b) : -1;
}

function aspen_and(a, b) {
  return a < 0 ? -1 : a ? b : 0;
}

function aspen_or(a, b) {
  return a < 0 ? -1 : a ? 1 : b;
}

function aspen_if(condition, then, otherwise) {
  return condition < 0 ? NAN : condition ? then : otherwise;
}

function aspen_either(condition, then, otherwise) {
  return condition < 0 ? -1 : condition ? then : otherwise;
}

function aspen_held(value, holds) {
  return holds ? value : NAN;
}

function aspen_amount(value) {
  return value >= 0 && isfinite(value) ? value : NAN;
}
