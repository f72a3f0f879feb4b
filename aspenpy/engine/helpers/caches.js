// The laws of caches, as in caches.h: NAN where they have no value.

function aspen_gcd(a, b) {
  a = fabs(a);
  b = fabs(b);
  if (!Number.isInteger(a) || !Number.isInteger(b)) return NAN;
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

function aspen_lru_hits(distance, ways, lines) {
  const beyond = distance - ways + 1, chance = ways / lines;
  if (!(distance >= 0) || !(ways >= 1) || ways !== floor(ways) || !(lines >= ways) || ways > 1e6) return NAN;
  if (!isfinite(distance) || !isfinite(lines)) return NAN;
  if (beyond <= 0) return 1;
  if (ways === lines) return 0;
  let logarithm = beyond * log1p(-chance), term = 1, total = 1;
  for (let way = 0; way < ways - 1; way++) {
    term *= ((beyond + way) / (way + 1)) * chance;
    total += term;
    if (total > 1e250) {
      term /= 1e250;
      total /= 1e250;
      logarithm += 250 * 2.302585092994045684;
    }
  }
  return fmin(1, exp(logarithm + log(total)));
}

function aspen_with_room(ways, loads) {
  if (ways < 0) return 0;
  let most = 0;
  for (let i = 0; i < loads.length; i += 2) most += loads[i + 1] > 0 ? floor(loads[i]) + 1 : 0;
  if (most <= ways) return 1;
  const whole = floor(loads[0]), rest = loads[0] - whole, chance = fmin(1, loads[1]), others = loads.slice(2);
  let found = chance > 0 ? chance * (1 - rest) * aspen_with_room(ways - whole, others) : 0;
  if (chance > 0 && rest > 0) found += chance * rest * aspen_with_room(ways - whole - 1, others);
  return chance < 1 ? found + (1 - chance) * aspen_with_room(ways, others) : found;
}

function aspen_lines_with_room(given) {
  if (!isfinite(given[0]) || !given.slice(1).every((load) => load >= 0 && isfinite(load))) return NAN;
  const whole = floor(given[1]), rest = given[1] - whole, others = given.slice(2);
  if (rest === 0) return aspen_with_room(given[0] - whole, others);
  const fewer = (1 - rest) * whole * aspen_with_room(given[0] - whole, others);
  return (fewer + rest * (whole + 1) * aspen_with_room(given[0] - whole - 1, others)) / given[1];
}

function aspen_random_misses(given) {
  const lines = given[0];
  let misses = 1, shares = 0;
  for (let i = 1; i < given.length; i += 2) {
    if (!(given[i] >= 0) || !(given[i + 1] >= 0) || !isfinite(given[i])) return NAN;
    shares += given[i + 1];
  }
  if (!(lines >= 1) || !isfinite(lines) || shares > 1 + 1e-9 || given.length % 2 === 0) return NAN;
  for (let step = 0; step < 200; step++) {
    const kept = 1 - misses / lines;
    let value = 1 - misses, slope = -1;
    for (let i = 1; i < given.length; i += 2) {
      value -= given[i + 1] * pow(kept, given[i]);
      if (given[i] !== 0 && kept !== 0) slope += ((given[i + 1] * given[i]) / lines) * pow(kept, given[i] - 1);
    }
    if (slope >= 0 || value >= -1e-15) break;
    misses = fmax(0, misses - value / slope);
  }
  return misses;
}

function aspen_touch(set, given, count, place) {
  const line = given[1], way = line * given[2];
  if (count > 3) {
    const stride = fabs(given[count - 2]) % way, trips = fmax(1, ceil(given[count - 1]));
    for (let trip = 0; trip < trips && trip < way; trip++) {
      aspen_touch(set, given, count - 2, place);
      place = (place + stride) % way;
    }
    return;
  }
  const bytes = fmin(fmax(1, ceil(given[0])), way);
  for (let byte = 0; byte < bytes; byte++) set[trunc(((place + byte) % way) / line)] = 1;
}

function aspen_sets_touched(given) {
  for (let i = 0; i < given.length; i++) {
    if (!isfinite(given[i]) || (i > 0 && (i < 3 || i % 2 === 1) && given[i] !== floor(given[i]))) return NAN;
  }
  if (!(given[1] >= 1) || !(given[2] >= 1) || given[2] > 1e8) return NAN;
  const set = new Uint8Array(given[2]);
  aspen_touch(set, given, given.length, 0);
  return set.reduce((touched, one) => touched + one, 0);
}
