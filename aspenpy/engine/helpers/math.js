// What the expressions and helpers call that C's library has; an array of bytes from calloc is one of numbers.
const NAN = NaN, { abs: fabs, ceil, floor, exp, expm1, log, log1p, pow, sqrt, cbrt, hypot, trunc } = Math;
const { sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh } = Math;
const calloc = (count) => new Float64Array(count), free = () => {};
const isfinite = Number.isFinite, isnan = Number.isNaN, fmin = Math.min, fmax = Math.max;
const fmod = (a, b) => a % b;

// To the nearest whole number, a half to the even one (IEEE 754), unlike Math.round.
function rint(x) {
  const low = Math.floor(x), above = x - low;
  return above < 0.5 || (above === 0.5 && low % 2 === 0) ? low : low + 1;
}

// Logarithms of whole powers are whole, which not every engine guarantees: log2(8) is 3.
function log2(x) {
  const value = Math.log2(x), near = Math.round(value);
  return Math.pow(2, near) === x ? near : value;
}

function log10(x) {
  const value = Math.log10(x), near = Math.round(value);
  return Math.pow(10, near) === x ? near : value;
}
