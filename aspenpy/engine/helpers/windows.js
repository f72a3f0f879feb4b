// The lines between two touches of a line, counted in its set, as in windows.h: NAN where the arguments make no sense.
// Whole numbers are exact up to 2^53. Walks are views of one array, as the pointers of windows.h are.

function aspen_add_loop(runs, stride, trips) {
  const by = trunc(fabs(stride)), times = trunc(fmax(1, ceil(trips)));
  let place = runs.loops.length;
  while (place > 0 && (runs.loops[place - 1][0] > by || (runs.loops[place - 1][0] === by && runs.loops[place - 1][1] > times)))
    place--;
  runs.loops.splice(place, 0, [by, times]);
}

function aspen_join(runs, line) {
  const apart = [];
  for (const [stride, trips] of runs.loops) {
    const last = apart[apart.length - 1];
    if (stride < runs.length + line) runs.length += stride * (trips - 1);
    else if (last && stride % last[0] === 0 && stride / last[0] <= last[1]) last[1] += (stride / last[0]) * (trips - 1);
    else if (trips > 1) apart.push([stride, trips]);
  }
  runs.loops = apart;
}

function aspen_read_runs(walk, outside, trips, all, line) {
  const inner = trunc(walk[1]), runs = { length: trunc(fmax(1, ceil(walk[0]))), loops: [] };
  for (let i = 0; i < inner + +(all > 0); i++) aspen_add_loop(runs, walk[2 + 2 * i], walk[3 + 2 * i]);
  for (let i = 0; i < outside && all > 1; i++) aspen_add_loop(runs, walk[5 + 2 * inner + i], trips[i]);
  aspen_join(runs, line);
  return runs;
}

function aspen_lines_there(runs, loops, length, place, cache) {
  if (loops === 0) {
    const last = floor((floor(place / cache[2]) - 1 + floor(cache[0] / cache[2])) / floor(cache[1] / cache[2]));
    return last - floor((floor(place / cache[2]) + floor(-length / cache[2])) / floor(cache[1] / cache[2]));
  }
  const [stride, trips] = runs.loops[loops - 1];
  let lines = 0;
  for (let trip = 0; trip < trips; trip++) lines += aspen_lines_there(runs, loops - 1, length, place - trip * stride, cache);
  return lines;
}

function aspen_lines_of_trips(walk, first, last, place, cache) {
  const stride = trunc(fabs(walk[2 + 2 * trunc(walk[1])])), runs = aspen_read_runs(walk, 0, walk, 0, cache[0]);
  const loops = runs.loops.length;
  if (last <= first) return 0;
  if (stride < runs.length + cache[0])
    return aspen_lines_there(runs, loops, runs.length + stride * (last - first - 1), place - stride * first, cache);
  let lines = 0;
  for (let trip = first; trip < last; trip++) lines += aspen_lines_there(runs, loops, runs.length, place - stride * trip, cache);
  return lines;
}

function aspen_lines_of_both(walk, place, cache) {
  const shift = floor(walk[4 + 2 * trunc(walk[1])]), runs = aspen_read_runs(walk, 0, walk, 1, cache[0]);
  const loops = runs.loops.length;
  if (shift >= 0 && shift < runs.length + cache[0]) return aspen_lines_there(runs, loops, runs.length + shift, place, cache);
  for (const loop of runs.loops) {
    if (shift > 0 && shift < loop[0] * loop[1] && shift % loop[0] === 0) {
      loop[1] += shift / loop[0];
      return aspen_lines_there(runs, loops, runs.length, place, cache);
    }
  }
  return aspen_lines_there(runs, loops, runs.length, place, cache)
    + aspen_lines_there(runs, loops, runs.length, place - shift, cache);
}

function aspen_lines_between(walk, place, left, found, cache) {
  const around = walk.subarray(2 + 2 * trunc(walk[1])), trips = trunc(fmax(1, ceil(around[1]))), shift = floor(around[2]);
  if (around[0] === 0 || trips === 1)
    return shift !== 0 && found > 0 ? aspen_lines_of_both(walk, place, cache) : aspen_lines_of_trips(walk, 0, 1, place, cache);
  const lines = aspen_lines_of_trips(walk, left, trips, place, cache)
    + aspen_lines_of_trips(walk, 0, fmin(found, trips), place - shift, cache);
  return fmin(lines, aspen_lines_of_both(walk, place, cache));
}

function aspen_walk_end(given, at, outside) {
  const count = given.length, whole = (place) => place < count && given[place] === floor(given[place]);
  if (at + 1 >= count || !(given[at + 1] >= 0) || given[at + 1] > 40 - outside - 2) return -1;
  for (let i = 0; i <= trunc(given[at + 1]); i++) if (!whole(at + 2 + 2 * i)) return -1;
  at += 5 + 2 * trunc(given[at + 1]);
  for (let i = 0; i <= outside; i++) if (!whole(at + i)) return -1;
  return given[at + outside] >= 0 ? at + outside + 1 : -1;
}

function aspen_begin(given, walk) {
  const outside = trunc(given[3]), own = given.subarray(5 + outside), way = given[1] * given[2];
  const behind = walk[5 + 2 * trunc(walk[1]) + outside] - own[5 + 2 * trunc(own[1]) + outside];
  return trunc(behind - way * floor(behind / way));
}

function aspen_in_use(given, at, place, left, found, cache) {
  const outside = trunc(given[3]);
  let used = 0;
  for (let next = 4 + outside; next < given.length; ) {
    const walks = trunc(given[next++]);
    let lines = 0, most = 0;
    for (let number = 0; number < walks; number++) {
      const walk = given.subarray(next), outer = given.subarray(next + 5 + 2 * trunc(given[next + 1]));
      const all = aspen_read_runs(walk, outside, given.subarray(4), 2, cache[0]);
      let from = place - aspen_begin(given, walk);
      const bound = walks > 1 ? aspen_lines_there(all, all.loops.length, all.length, from, cache) : 0;
      for (let i = 0; i < outside; i++) from -= trunc(fabs(outer[i]) * at[i]);
      lines += aspen_lines_between(walk, from, left, found, cache);
      most = fmax(most, bound);
      next = aspen_walk_end(given, next, outside);
    }
    used += walks > 1 && most < lines ? most : lines;
  }
  return used;
}

function aspen_visit(given, at, cache, tells_again) {
  const outside = trunc(given[3]), own = given.subarray(5 + outside), around = own.subarray(2 + 2 * trunc(own[1]));
  const outer = around.subarray(3), runs = aspen_read_runs(own, 0, own, 0, cache[0]), loops = runs.loops.length;
  const stride = trunc(fabs(around[0])), trips = trunc(fmax(1, ceil(around[1]))), shift = floor(around[2]);
  const step = fmax(1, stride), line = cache[0], dense = stride < runs.length + line, last = outside + loops + +!dense;
  const length = runs.length + (dense ? stride * (trips - 1) : 0);
  let begin = 0, left, found, again;
  for (let i = 0; i < outside; i++) begin += trunc(fabs(outer[i]) * at[i]);
  for (let i = 0; i < loops; i++) begin += runs.loops[i][0] * at[outside + i];
  begin += dense ? 0 : stride * at[last - 1];
  const offset = at[last] * line - (begin % line), back = offset - shift;
  if (offset >= length) return -1;
  if (dense) {
    left = fmin(fmax(floor((offset + line - 1) / step), 0), trips - 1);
    found = fmin(fmax(-floor((runs.length - 1 - back) / step), 0), trips - 1);
    again = back > -line && back < length;
  } else {
    left = at[last - 1];
    found = left - (shift % stride === 0 ? shift / stride : 0);
    again = found >= 0 && found < trips && (shift % stride === 0 || (back > -line && back < length));
    found = fmax(found, 0);
  }
  if (tells_again) return again ? 1 : -1;
  return aspen_in_use(given, at, begin + offset, left, found, cache);
}

function aspen_iteration(number, counts) {
  const primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53], at = [];
  const all = counts.reduce((product, count) => product * count, 1);
  if (number >= fmin(all, 2048)) return null;
  for (let i = counts.length - 1; i >= 0; i--) {
    at[i] = all <= 2048 ? number % counts[i] : floor(((sqrt(primes[i % 16]) * (number + 1)) % 1) * counts[i]);
    number = all <= 2048 ? floor(number / counts[i]) : number;
  }
  return at;
}

function aspen_window_parts(given) {
  const count = given.length, outside = trunc(given[3]);
  if (!given.every(isfinite) || !(given[1] >= 1) || !(given[2] >= 1) || given[1] !== floor(given[1])) return null;
  if (given[2] !== floor(given[2]) || !(given[3] >= 0) || given[3] > 20 || given[3] !== outside || count < 5 + outside)
    return null;
  let walks = 0, structures = 0, next = 4 + outside, all_lines = 0, whole = 0, reach = 0, unit = given[1];
  for (; next < count; structures++) {
    const found = trunc(given[next++]);
    if (found < 1) return null;
    for (let i = 0; i < found; i++, walks++) {
      const end = aspen_walk_end(given, next, outside), walk = given.subarray(next);
      if (end < 0) return null;
      const runs = aspen_read_runs(walk, 0, given, 1, trunc(given[1]));
      const lines = runs.loops.reduce((product, loop) => product * loop[1], floor(runs.length / given[1]) + 2);
      all_lines += lines * (given[end - 2 - outside] !== 0 ? 2 : 1);
      whole += runs.loops.length ? 0 : floor(floor(runs.length / given[1]) / given[2]);
      const all = aspen_read_runs(walk, outside, given.subarray(4), 2, 2 ** 60);
      reach = fmax(reach, aspen_begin(given, walk) + all.length + fabs(floor(given[end - 2 - outside])));
      for (let at = next + 2; at < end; at++)
        if (at >= end - 2 - outside || (at - next) % 2 === 0) unit = aspen_gcd(unit, floor(given[at]));
      next = end;
    }
  }
  return structures > 0 ? { lines: all_lines, whole: walks === structures ? whole : 0, reach, unit } : null;
}

function aspen_share_kept(numbers) {
  const given = Float64Array.from(numbers), parts = given.length < 5 ? null : aspen_window_parts(given);
  if (parts === null) return NAN;
  if (parts.lines <= floor(given[0])) return 1;
  if (parts.whole > floor(given[0])) return 0;
  const line = trunc(given[1]), outside = trunc(given[3]);
  const cache = [line, line * trunc(fmin(given[2], floor(parts.reach / given[1]) + 2)), trunc(parts.unit)];
  const own = given.subarray(5 + outside), around = own.subarray(2 + 2 * trunc(own[1]));
  const runs = aspen_read_runs(own, 0, own, 0, line), dense = fabs(around[0]) < runs.length + line;
  const trips = fmax(1, ceil(around[1])), length = runs.length + (dense ? fabs(around[0]) * (trips - 1) : 0);
  const counts = Array.from(given.subarray(4, 4 + outside), (count) => fmax(1, ceil(count)));
  counts.push(...runs.loops.map((loop) => loop[1]), ...(dense ? [] : [trips]), floor(length / given[1]) + 2);
  let any = false, kept = 0, total = 0;
  for (let number = 0, at; (at = aspen_iteration(number, counts)) !== null && !any; number++)
    any = aspen_visit(given, at, cache, true) > 0;
  for (let number = 0, at; (at = aspen_iteration(number, counts)) !== null; number++) {
    const used = aspen_visit(given, at, cache, false);
    if (used < 0 || (any && aspen_visit(given, at, cache, true) < 0)) continue;
    total++;
    kept += +(used <= floor(given[0]));
  }
  return kept / total;
}
