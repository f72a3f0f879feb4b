// Numbers as a reader wants them: few digits, a unit of the right size.

const PREFIXES = ["q", "r", "y", "z", "a", "f", "p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q"];
const NO_VALUE = "no value";
const LONG_TIMES = [["years", 31557600], ["d", 86400], ["h", 3600], ["min", 60]]; // each from two of them on

function digits(value, most) {
  return String(Number(value.toPrecision(most)));
}

function readable(value, unit, most = 3) {
  if (!Number.isFinite(value)) return NO_VALUE;
  const size = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(Number(value.toPrecision(most)))) / 3);
  if (!unit) {
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
    return Math.abs(size) < 2 ? digits(value, Math.max(most, 4)) : value.toExponential(most - 1);
  }
  if (unit === "s") for (const [name, seconds] of LONG_TIMES) if (Math.abs(value) >= 2 * seconds) return `${digits(value / seconds, most)} ${name}`;
  const step = Math.max(-10, Math.min(10, size));
  return `${digits(value / 1000 ** step, most)} ${PREFIXES[step + 10]}${unit}`;
}

// A number along an axis: seconds stay seconds, of which tens, hundreds and thousands are round.
function tickText(value, unit) {
  return unit === "s" && Math.abs(value) >= 100 ? `${value < 1e6 ? value.toLocaleString("en") : digits(value, 3)} s` : readable(value, unit);
}

function percent(part) {
  return part > 0 && part < 0.0005 ? "<0.1 %" : `${(100 * part).toFixed(1)} %`;
}

// What stands in a field: a number with a prefix where it has a unit.
function written(value, unit) {
  if (!unit || value === 0) return String(Number(value.toPrecision(12)));
  const step = Math.max(-10, Math.min(10, Math.floor(Math.log10(Math.abs(value)) / 3 + 1e-12)));
  return (Number((value / 1000 ** step).toPrecision(10)) + " " + PREFIXES[step + 10]).trim();
}

// The number of a field, `3.5 G` or `3.5e9`; NaN for any other text.
function parsed(text) {
  const found = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([qryzafpnumkMGTPEZYRQ]i?)?\s*$/i.exec(text);
  if (found === null) return NaN;
  const prefix = found[2] || "", step = PREFIXES.indexOf(prefix[0] || "") - 10;
  if (prefix.length > 1) return step > 0 ? Number(found[1]) * 1024 ** step : NaN;
  const scaled = Number(found[1] + "e" + 3 * step);
  return step === -11 ? NaN : Number.isFinite(scaled) ? scaled : Number(found[1]) * 1000 ** step;
}
