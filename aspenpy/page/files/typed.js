// What a reader types into a field: an expression as `--set` takes it, with units and with names of other parameters.

const WORDS = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(?: ?([A-Za-z]+(?:\/[A-Za-z]+)?)(?![\w(\[]))?|([A-Za-z_][\w.]*)|([-+*/^(),]))/iy;
const CONSTANTS = { nano: 1e-9, micro: 1e-6, milli: 1e-3, kilo: 1e3, mega: 1e6, giga: 1e9, tera: 1e12, peta: 1e15, exa: 1e18 };
const APPLIED = { min: Math.min, max: Math.max, sqrt: Math.sqrt, log: Math.log, log2: Math.log2, log10: Math.log10, exp: Math.exp, ceil: Math.ceil, floor: Math.floor, abs: Math.abs };

// The number of a field: `3.5 G`, `2*128`, `2*nx`, `512 KiB` where the parameter is in bytes; NaN for any other text, for a
// unit of another kind, and for a unit of what has none, such as a count.
function typed(text, unit, values) {
  const plain = parsed(text);
  if (Number.isFinite(plain)) return plain;
  const words = wordsOf(text);
  if (words === null) return NaN;
  const reader = { words, place: 0, values, unit };
  const value = sum(reader);
  return reader.place === words.length ? value : NaN;
}

function wordsOf(text) {
  const words = [];
  let from = 0;
  for (const rest = text.trimEnd(); from < rest.length; from = WORDS.lastIndex) {
    WORDS.lastIndex = from;
    const found = WORDS.exec(rest);
    if (found === null) return null;
    words.push({ number: found[1], unit: found[2], name: found[3], sign: found[4] });
  }
  return words.length ? words : null;
}

function take(reader, ...signs) {
  const word = reader.words[reader.place];
  if (!word || !signs.includes(word.sign)) return "";
  reader.place += 1;
  return word.sign;
}

function sum(reader) {
  let value = product(reader);
  for (let sign; (sign = take(reader, "+", "-")); ) value = sign === "+" ? value + product(reader) : value - product(reader);
  return value;
}

function product(reader) {
  let value = signed(reader);
  for (let sign; (sign = take(reader, "*", "/")); ) value = sign === "*" ? value * signed(reader) : value / signed(reader);
  return value;
}

// A power binds closer than a sign in front of it, and is read from the right.
function signed(reader) {
  if (take(reader, "-")) return -signed(reader);
  const base = atom(reader);
  return take(reader, "^") ? base ** signed(reader) : base;
}

function atom(reader) {
  if (take(reader, "(")) {
    const value = sum(reader);
    return take(reader, ")") ? value : NaN;
  }
  const word = reader.words[reader.place];
  if (!word || word.sign) return NaN;
  reader.place += 1;
  if (word.number !== undefined) return word.unit === undefined ? Number(word.number) : quantity(Number(word.number), word.unit, reader.unit);
  return take(reader, "(") ? applied(word.name, reader) : named(word.name, reader.values);
}

// In base units, of what has the unit of the parameter.
function quantity(number, name, wanted) {
  const unit = Object.hasOwn(facts.units, name) ? facts.units[name] : null;
  return unit !== null && unit[1] === wanted ? number * unit[0] : NaN;
}

function applied(name, reader) {
  const given = [sum(reader)];
  while (take(reader, ",")) given.push(sum(reader));
  return take(reader, ")") && Object.hasOwn(APPLIED, name) ? APPLIED[name](...given) : NaN;
}

function named(name, values) {
  if (Object.hasOwn(CONSTANTS, name)) return CONSTANTS[name];
  const places = facts.inputs.flatMap((input, place) => (input.name === name ? [place] : []));
  return places.length === 1 ? values[places[0]] : NaN;
}
