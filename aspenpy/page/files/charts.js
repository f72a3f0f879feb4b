// Charts: scales, axes and the curve of a metric over an input.

const COLOURS = 4; // of machines, in the style as --machine-1 ..
const POINTS = { moving: Math.max(9, Math.floor(33 / facts.machines.length)), still: 121 };

class Scale {
  constructor(low, high, log, from, to) {
    this.log = log && low > 0;
    if (!(high > low)) [low, high] = low === 0 ? [0, 1] : this.log ? [low / 2, high * 2] : [low - Math.abs(low) / 2, low + Math.abs(low) / 2];
    Object.assign(this, { low, high, from, to });
  }

  at(value) {
    const part = this.log
      ? Math.log(value / this.low) / Math.log(this.high / this.low)
      : (value - this.low) / (this.high - this.low);
    return this.from + part * (this.to - this.from);
  }

  value(part) {
    return this.log ? this.low * (this.high / this.low) ** part : this.low + part * (this.high - this.low);
  }

  ticks(most) {
    if (!this.log) {
      const rough = (this.high - this.low) / most, ten = 10 ** Math.floor(Math.log10(rough));
      const step = ten * [1, 2, 5, 10].find((times) => times * ten >= rough);
      const first = Math.ceil(this.low / step - 1e-9), count = Math.floor(this.high / step + 1e-9) - first + 1;
      return Array.from({ length: count }, (_, place) => (first + place) * step);
    }
    const first = Math.ceil(Math.log10(this.low) - 1e-9), last = Math.floor(Math.log10(this.high) + 1e-9);
    if (last - first < 1) {
      const powers = Array.from({ length: 3 }, (_, place) => 10 ** (first - 1 + place));
      return powers.flatMap((ten) => [1, 2, 5].map((times) => times * ten)).filter((it) => it >= this.low && it <= this.high);
    }
    const step = Math.ceil((last - first + 1) / most);
    return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, place) => 10 ** (first + place * step));
  }
}

// A frame with grid, ticks and titles; `x` and `y` are scales with a title and a unit.
function frame(x, y, width, height) {
  const parts = [];
  const named = x.choices && x.choices.length > 0, ticks = named ? x.choices.map((_, place) => place) : x.scale.ticks(width < 500 ? 4 : 7);
  for (const tick of ticks) {
    const at = x.scale.at(tick);
    parts.push(drawn("line", { class: "grid", x1: at, x2: at, y1: y.scale.to, y2: y.scale.from }));
    parts.push(drawn("text", { x: at, y: y.scale.from + 18, "text-anchor": "middle" }, named ? shortened(x.choices[tick], (x.scale.to - x.scale.from) / ticks.length / 7) : tickText(tick, x.unit)));
  }
  for (const tick of y.scale.ticks(6)) {
    const at = y.scale.at(tick);
    parts.push(drawn("line", { class: "grid", x1: x.scale.from, x2: x.scale.to, y1: at, y2: at }));
    parts.push(drawn("text", { x: x.scale.from - 7, y: at + 4, "text-anchor": "end" }, tickText(tick, y.unit)));
  }
  const middle = (x.scale.from + x.scale.to) / 2;
  parts.push(drawn("text", { class: "title", x: middle, y: height - 6, "text-anchor": "middle" }, shortened(x.title, width / 8)));
  parts.push(drawn("text", { class: "title", x: 4, y: 14 }, y.title));
  return drawn("g", { class: "frame" }, ...parts);
}

function shortened(text, most) {
  return text.length <= most ? text : text.slice(0, Math.max(1, Math.floor(most) - 1)) + "…";
}

// -- the curve --

const curve = { cache: new Map(), area: null };

// The ends of the axis: those of the slider, and the values that were written beyond them.
function axisEnds() {
  const input = facts.inputs[state.axis], used = [state.values, state.pinned || state.values].map((values) => values[state.axis]);
  return [Math.min(input.low, ...used), Math.max(input.high, ...used)];
}

// The metric over the axis for one machine, with all else as in `values`; kept until one of these changes.
function points(number, values, count) {
  const input = facts.inputs[state.axis], [low, high] = axisEnds();
  const others = argumentsOf(number, values.map((value, place) => (place === state.axis ? 0 : value)));
  const key = `${number} ${state.axis} ${low} ${high} ${state.metric} ${others.join(" ")}`;
  const known = curve.cache.get(key);
  if (known && known.count >= count) return known.found;
  const scale = new Scale(low, high, input.log, 0, 1), changed = values.slice();
  const found = [];
  let last = NaN;
  for (let place = 0; place < count; place++) {
    const exact = scale.value(place / (count - 1));
    const value = input.whole ? Math.min(Math.max(Math.round(exact), Math.ceil(low)), Math.floor(high)) : exact;
    if (value === last) continue;
    changed[state.axis] = last = value;
    found.push([value, METRICS[state.metric].of(headline(number, changed))]);
  }
  if (curve.cache.size > 60) curve.cache.clear();
  curve.cache.set(key, { count, found });
  return found;
}

function path(list, x, y) {
  let text = "", broken = true;
  for (const [across, up] of list) {
    const fine = Number.isFinite(up) && (!y.log || up > 0) && (!x.log || across > 0);
    if (fine) text += `${broken ? "M" : "L"}${x.at(across).toFixed(1)} ${y.at(up).toFixed(1)}`;
    broken = !fine;
  }
  return text;
}

function drawCurve(count) {
  const width = Math.max(300, Math.min(900, widthOf(curve.area, 700))), height = 320;
  const input = facts.inputs[state.axis], metric = METRICS[state.metric];
  if (!input) return;
  const lines = [];
  facts.machines.forEach((machine, number) => {
    if (state.metric > 0 && !machine.energy) return;
    if (state.pinned) lines.push({ number, values: state.pinned, kind: "pinned", list: points(number, state.pinned, count) });
    lines.push({ number, values: state.values, kind: "now", list: points(number, state.values, count) });
  });
  for (const line of lines) line.dot = [line.values[state.axis], METRICS[state.metric].of(headline(line.number, line.values))];
  const heights = lines.flatMap((line) => [...line.list, line.dot].map(([, up]) => up)).filter((up) => Number.isFinite(up));
  const least = Math.min(...heights), most = Math.max(...heights), wide = least > 0 && most / least > 30;
  const named = input.choices.length > 0, [low, high] = axisEnds();
  const x = named ? new Scale(low - 0.5, high + 0.5, false, 78, width - 28) : new Scale(low, high, input.log, 78, width - 28);
  const y = new Scale(wide ? least * 0.9 : Math.min(0, least), heights.length ? most * 1.05 : 1, wide, height - 50, 28);
  const parts = [frame({ scale: x, unit: input.unit, choices: input.choices, title: titleOf(input) }, { scale: y, unit: metric.unit, title: metric.name }, width, height)];
  for (const line of lines) {
    const style = `line machine-${(line.number % COLOURS) + 1} ${line.kind}`;
    if (named) // between two names there is nothing
      for (const [across, up] of line.list)
        if (Number.isFinite(up) && (!y.log || up > 0)) parts.push(drawn("circle", { class: `${style} other`, cx: x.at(across), cy: y.at(up), r: 5 }));
    if (!named) parts.push(drawn("path", { class: style, d: path(line.list, x, y) }));
    if (Number.isFinite(line.dot[1]) && (!y.log || line.dot[1] > 0))
      parts.push(drawn("circle", { class: `${style} dot`, cx: x.at(line.dot[0]), cy: y.at(line.dot[1]), r: 5 }));
  }
  const told = lines.map((line) => `${machineTitle(line.number)}${line.kind === "pinned" ? ", baseline" : ""}: ${readable(line.dot[1], metric.unit)}`);
  const label = `${metric.name} over ${titleOf(input)}. ${told.join("; ")}`;
  const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, ...parts);
  curve.area.replaceChildren(picture);
}

function buildCurve(changed) {
  const axis = element("select", { id: "axis", onchange: () => { state.axis = axis.selectedIndex; changed(); } });
  facts.inputs.forEach((input) => axis.append(element("option", {}, titleOf(input))));
  const metric = element("select", { id: "metric", onchange: () => { state.metric = metric.selectedIndex; changed(); } });
  const energy = facts.machines.some((machine) => machine.energy);
  METRICS.slice(0, energy ? METRICS.length : 1).forEach((item) => metric.append(element("option", {}, item.name)));
  curve.area = element("div", { class: "chart" });
  const legend = element("p", { class: "legend" }, ...facts.machines.map((_, number) =>
    element("span", { class: `key machine-${(number % COLOURS) + 1}` }, machineTitle(number))), element("span", { class: "key pinned" }, "dashed: pinned baseline"));
  byId("curve").append(
    element("p", { class: "choices" }, element("label", { for: "metric" }, "show "), metric, element("label", { for: "axis" }, " over "), axis),
    curve.area, legend,
  );
  return () => { axis.selectedIndex = state.axis; metric.selectedIndex = state.metric; };
}
