// The page: builds its parts once, and shows every change in all of them.

const cards = [];

function buildSummary() {
  facts.machines.forEach((machine, number) => {
    const card = { runtime: element("strong", { class: "large" }), rest: element("span"), bound: element("p"), change: element("p", { class: "change" }) };
    cards.push(card);
    const socket = machine.socket ? element("span", { class: "note" }, ` ${machine.socket}`) : null;
    byId("summary").append(element("div", { class: `card machine-${(number % COLOURS) + 1}` }, element("h3", {}, machineTitle(number), socket), element("p", {}, card.runtime, " ", card.rest), card.bound, card.change));
  });
}

function showSummary(all, pinned) {
  const told = [];
  facts.machines.forEach((machine, number) => {
    const results = all[number], card = cards[number], runtime = results[machine.runtime.value];
    const energy = machine.energy ? results[machine.energy.value] : NaN;
    setText(card.runtime, readable(runtime, "s"));
    const known = Number.isFinite(runtime) && Number.isFinite(energy);
    setText(card.rest, !machine.energy ? machine.powerless : known ? `${readable(energy, "J")}, ${readable(energy / runtime, "W")} on average` : "");
    const bound = boundBy(machine, results, waitsOf(machine.kernels, results));
    const why = Number.isFinite(runtime) ? "bound by nothing" : "The values are outside of what the models allow.";
    setText(card.bound, bound && runtime > 0 ? `bound by ${bound.name} (${percent(bound.time / runtime)} of runtime)` : why);
    setText(card.change, pinned ? changeOf(machine, results, pinned[number]) : "");
    const said = [card.runtime, card.rest, card.bound].map((part) => part.textContent).filter(Boolean).join(", ").replace(/\.$/, "");
    told.push(`${machineTitle(number)}: ${said}. ${card.change.textContent}`);
  });
  return told.join(" ");
}

function changeOf(machine, results, before) {
  const runtime = before[machine.runtime.value] / results[machine.runtime.value];
  const times = `${readable(runtime, "")} times as fast as the baseline`;
  if (!machine.energy) return times;
  return `${times}, ${readable(results[machine.energy.value] / before[machine.energy.value], "")} times its energy`;
}

function buildFormulas() {
  const rows = facts.machines.flatMap((machine, number) => [
    [`runtime on ${machineTitle(number)}`, element("code", {}, machine.runtime.formula)],
    ...(machine.energy ? [[`energy on ${machineTitle(number)}`, element("code", {}, machine.energy.formula)]] : []),
  ]);
  const inputs = facts.inputs.map((input) => [titleOf(input), placeOf(input.place)]);
  byId("formulas").append(
    element("details", {}, element("summary", {}, "Runtime and energy in the parameters"), listOf(rows)),
    element("details", {}, element("summary", {}, "Where the parameters are declared"), listOf(inputs)),
    element("p", { class: "note" }, `Made by aspenpy ${facts.version}. The page computes with the formulas of the models and needs no network.`),
  );
  const warnings = facts.warnings;
  if (warnings.length) byId("warnings").append(element("details", { class: "warning" }, element("summary", {}, `${warnings.length} warning${warnings.length > 1 ? "s" : ""} about the models`), element("ul", {}, ...warnings.map((text) => element("li", {}, text)))));
}

// -- actions --

const hasAddress = location.protocol !== "about:"; // a frame of a notebook has none that could hold the state

function buildActions() {
  const button = (text, action) => element("button", { type: "button", onclick: action }, text);
  const pin = button("Pin as baseline", () => { state.pinned = state.values.slice(); changed(); });
  const unpin = button("Remove baseline", () => { state.pinned = null; changed(); });
  const reset = button("Reset", () => { state.values = facts.inputs.map((input) => input.value); changed(); });
  const link = element("input", { type: "text", id: "link", readonly: true, hidden: true, "aria-label": "Link to this state" });
  const copy = button("Copy link", () => {
    history.replaceState(null, "", linkText());
    link.value = location.href;
    link.hidden = false;
    link.select();
    if (navigator.clipboard) navigator.clipboard.writeText(link.value).then(() => setText(byId("announced"), "Link copied"), () => {});
  });
  const linked = hasAddress ? [copy] : [];
  byId("actions").append(pin, unpin, reset, ...linked, button("Download CSV", download), link);
  return () => { unpin.disabled = state.pinned === null; };
}

// A cell of RFC 4180; text that a spreadsheet would take for a formula is kept text.
function cell(value) {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv() {
  const rows = [["machine", "kernel", "quantity", "value", "unit"]];
  const put = (machine, kernel, quantity, value, unit) => rows.push([machine, kernel, quantity, typeof value === "string" || Number.isFinite(value) ? value : "", unit]);
  facts.inputs.forEach((input, place) => put(input.machine === null ? "" : machineTitle(input.machine), "", `parameter ${input.name}`, input.choices.length ? input.choices[state.values[place]] : state.values[place], input.unit));
  facts.machines.forEach((machine, number) => {
    const results = computed(number, state.values), title = machineTitle(number);
    put(title, "", "runtime", results[machine.runtime.value], "s");
    if (machine.energy) put(title, "", "energy", results[machine.energy.value], "J");
    for (const resource of machine.resources) {
      if (resource.amount !== null) put(title, "", resource.name, results[resource.amount], resource.unit);
      put(title, "", `busy ${resource.name}`, results[resource.busy], "s");
    }
    for (const kernel of machine.kernels) {
      for (const quantity of ["calls", "inclusive", "exclusive"]) put(title, kernel.name, quantity, results[kernel[quantity]], quantity === "calls" ? "" : "s");
      if (kernel.energy !== null) put(title, kernel.name, "energy", results[kernel.energy], "J");
      const bound = boundBy(machine, results, waitsOf([kernel], results));
      if (bound) rows.push([title, kernel.name, "bound by", bound.name, ""]);
    }
    points(number, state.values, POINTS.still).forEach(([at, value]) => put(title, "", `${METRICS[state.metric].name} at ${titleOf(facts.inputs[state.axis])} = ${facts.inputs[state.axis].choices[at] || at}`, value, METRICS[state.metric].unit));
  });
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

function download() {
  const address = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
  const name = facts.title.replace(/[^\w-]+/g, "_").slice(0, 80);
  element("a", { href: address, download: `${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// -- changes --

let showChoices = () => {}, showActions = () => {}, said = "";
const keepLink = later(() => { if (hasAddress) history.replaceState(null, "", linkText()); }, 300);
const tellFrame = later(() => { if (parent !== window) parent.postMessage({ aspenpy: namedValues() }, "*"); }, 50);
const announce = later(() => setText(byId("announced"), said), 600);
const finish = later(() => drawCurve(POINTS.still), 150);

function refresh() {
  const all = facts.machines.map((_, number) => computed(number, state.values));
  const pinned = state.pinned ? facts.machines.map((_, number) => computed(number, state.pinned)) : null;
  showControls();
  said = showSummary(all, pinned);
  showKernels(all);
  showMemories(all);
  facts.machines.forEach((_, number) => drawRoofline(number, all[number], pinned && pinned[number]));
  if (facts.inputs.length) drawCurve(POINTS.moving);
  showChoices();
  showActions();
}

function changed() {
  performance.mark("begin");
  refresh();
  document.documentElement.dataset.milliseconds = performance.measure("update", "begin").duration.toFixed(2);
  keepLink();
  tellFrame();
  announce();
  finish();
}

readLink();
buildControls(changed);
buildSummary();
if (facts.inputs.length) showChoices = buildCurve(changed);
else byId("curve").append(element("p", { class: "note" }, "No parameter is free."));
buildMemories();
buildRooflines();
buildKernels();
buildFormulas();
showActions = buildActions();
refresh();
if (facts.inputs.length) finish();
addEventListener("hashchange", () => { readLink(); refresh(); finish(); });
addEventListener("resize", later(() => { widths.clear(); refresh(); finish(); }, 150));
