// Rooflines: the roofs of each machine, and its kernels as points that move (Williams, Waterman and Patterson 2009).

const rooflines = [];

function pointsBelow(machine, results) {
  const found = machine.kernels.filter((kernel) => kernel.flops !== null).map((kernel) => ({
    name: kernel.name,
    flops: results[kernel.flops],
    bytes: results[kernel.bytes],
    time: results[kernel.exclusive],
  })).filter((point) => point.flops > 0 && point.bytes > 0 && point.time > 0);
  const sum = (key) => found.reduce((total, point) => total + point[key], 0);
  const runtime = results[machine.runtime.value];
  if (found.length > 1) found.push({ name: "whole run", whole: true, flops: sum("flops"), bytes: sum("bytes"), time: runtime });
  return found.map((point) => ({
    ...point,
    intensity: point.flops / point.bytes,
    rate: point.flops / point.time,
    share: point.time / runtime,
  }));
}

function buildRooflines() {
  facts.machines.forEach((machine, number) => {
    const area = element("div", { class: "chart" });
    rooflines.push(area);
    byId("roofline").append(element("div", {}, element("h3", {}, machineTitle(number)), area));
  });
  byId("roofline").after(element("p", { class: "note" },
    "Solid: the cores, caches and memories that take part. Dashed: all of the machine. A circle is a kernel, as large as its share of the runtime; a ring is where it stands in the baseline."));
}

function drawRoofline(number, results, pinned) {
  const machine = facts.machines[number], area = rooflines[number];
  const now = pointsBelow(machine, results), before = pinned ? pointsBelow(machine, pinned) : [];
  const roofs = machine.roofs.flatMap((roof) => ["used", "all"].map((kind) => ({ ...roof, of: kind, rate: results[roof[kind]] }))).filter((roof) => roof.rate > 0);
  const used = roofs.filter((roof) => roof.of === "used");
  const compute = used.filter((roof) => roof.kind === "compute"), memory = used.filter((roof) => roof.kind === "memory");
  if (!compute.length || !memory.length) {
    area.replaceChildren(element("p", { class: "note" }, "The machine has no roofline: it states no rate of flops or of bytes."));
    return;
  }
  const width = Math.max(300, Math.min(760, widthOf(area, 460))), height = 330, all = [...now, ...before];
  const ridges = memory.map((one) => Math.max(...compute.map((top) => top.rate)) / one.rate);
  const x = new Scale(Math.min(0.05, ...all.map((point) => point.intensity / 2)), Math.max(20, ...ridges.map((ridge) => ridge * 3), ...all.map((point) => point.intensity * 2)), true, 78, width - 28);
  const top = Math.max(...compute.map((roof) => roof.rate));
  const least = all.length ? Math.min(...all.map((point) => point.rate / 3)) : Math.min(...compute.map((roof) => roof.rate / 30));
  const y = new Scale(Math.max(least, top * 1e-15), top * 3, true, height - 50, 28);
  const parts = [frame({ scale: x, unit: "", title: "operational intensity (flop/B)" }, { scale: y, unit: "flop/s", title: "flop rate" }, width, height)];
  for (const roof of roofs) parts.push(...roofLine(roof, roofs, x, y));
  for (const point of [...before.map((point) => ({ ...point, before: true })), ...now]) parts.push(...pointMark(point, number, x, y));
  parts.push(...pointLabels(now, x, y));
  const worst = now.filter((point) => !point.whole).sort((a, b) => b.share - a.share)[0];
  const label = worst ? `Roofline of ${machineTitle(number)}. ${worst.name} does ${readable(worst.rate, "flop/s")} at ${readable(worst.intensity, "")} flop a byte` : `Roofline of ${machineTitle(number)}`;
  area.replaceChildren(drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, ...parts));
}

// A horizontal roof from where the fastest memory reaches it, or a slope up to the highest roof, with its name; cut at
// the frame.
function roofLine(roof, roofs, x, y) {
  const alike = (kind) => roofs.filter((other) => other.of === roof.of && other.kind === kind).map((other) => other.rate);
  if (roof.of === "all" && roofs.some((other) => other.of === "used" && other.name === roof.name && other.rate === roof.rate)) return [];
  const style = `roof ${roof.kind} ${roof.of}`, parts = [];
  if (roof.kind === "compute") {
    const from = Math.max(x.low, roof.rate / Math.max(...alike("memory")));
    if (roof.rate < y.low || roof.rate > y.high || from >= x.high) return parts;
    parts.push(drawn("line", { class: style, x1: x.at(from), x2: x.to, y1: y.at(roof.rate), y2: y.at(roof.rate) }));
    if (roof.of === "used" && roof.rate === Math.max(...alike("compute")))
      parts.push(drawn("text", { class: "label", x: x.to, y: y.at(roof.rate) - 5, "text-anchor": "end" }, `${readable(roof.rate, "flop/s")}, ${roof.name}`));
    return parts;
  }
  const low = Math.max(x.low, y.low / roof.rate), high = Math.min(x.high, y.high / roof.rate, Math.max(...alike("compute")) / roof.rate);
  if (high <= low) return parts;
  parts.push(drawn("line", { class: style, x1: x.at(low), x2: x.at(high), y1: y.at(low * roof.rate), y2: y.at(high * roof.rate) }));
  if (roof.of === "used" && roof.rate === Math.min(...alike("memory"))) {
    const slope = (Math.atan2(y.at(high * roof.rate) - y.at(low * roof.rate), x.at(high) - x.at(low)) * 180) / Math.PI;
    const middle = Math.sqrt(low * high), at = `${x.at(middle)} ${y.at(middle * roof.rate)}`;
    parts.push(drawn("text", { class: "label", transform: `translate(${at}) rotate(${slope}) translate(0 -5)`, "text-anchor": "middle" }, shortened(`${readable(roof.rate, "B/s")} ${roof.name}`, 32)));
  }
  return parts;
}

function pointMark(point, number, x, y) {
  if (!(point.rate >= y.low)) return [];
  const size = point.whole ? 6 : 3 + 7 * Math.sqrt(Math.min(1, point.share));
  const style = `point machine-${(number % COLOURS) + 1}${point.before ? " before" : ""}${point.whole ? " whole" : ""}`;
  const told = `${point.name}: ${readable(point.rate, "flop/s")} at ${readable(point.intensity, "")} flop/B`;
  return [drawn("circle", { class: style, cx: x.at(point.intensity), cy: y.at(point.rate), r: size }, drawn("title", {}, told))];
}

// The names of the kernels that take longest, each where no other stands.
function pointLabels(list, x, y) {
  const taken = [], parts = [];
  const largest = [...list].sort((a, b) => Number(b.whole || false) - Number(a.whole || false) || b.share - a.share).slice(0, 4);
  for (const point of largest) {
    const name = shortened(point.name, 20), wide = 6.2 * name.length, right = x.at(point.intensity) + 12 + wide < x.to;
    const left = right ? x.at(point.intensity) + 8 : x.at(point.intensity) - 8 - wide;
    let up = y.at(point.rate) + (point.whole ? -12 : 20);
    for (const other of taken) if (Math.abs(other.up - up) < 13 && left < other.left + other.wide && other.left < left + wide) up = other.up + 13;
    if (up > y.from - 2 || left < x.from) continue;
    taken.push({ up, left, wide });
    parts.push(drawn("text", { class: "label", x: left, y: up }, name));
  }
  return parts;
}
