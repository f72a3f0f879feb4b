// Kernels: times, shares and what bounds each, machine by machine; below a kernel the lines and formulas behind it.

const table = { rows: [], whole: null };

// The resources in groups that cannot overlap, as the models have it: transitively through those in use.
function conflictGroups(names, conflicts) {
  const leader = new Map(names.map((name) => [name, name]));
  const find = (name) => (leader.get(name) === name ? name : find(leader.get(name)));
  for (const [first, second] of conflicts) {
    if (!leader.has(first) || !leader.has(second)) continue;
    const [low, high] = [find(first), find(second)].sort((a, b) => names.indexOf(a) - names.indexOf(b));
    leader.set(high, low);
  }
  const groups = new Map(names.map((name) => [find(name), []]));
  names.forEach((name) => groups.get(find(name)).push(name));
  return [...groups.values()];
}

// What some blocks wait for longest, given the seconds by resource; null where they wait for nothing.
function boundBy(machine, results, waits) {
  const used = new Map(machine.resources.map((resource) => [resource.name, resource]));
  const busy = [...waits.keys()].filter((name) => used.has(name) && results[used.get(name).busy] > 0);
  if (!busy.some((name) => waits.get(name) > 0)) return null;
  const time = (group) => group.reduce((total, name) => total + waits.get(name), 0);
  const longest = conflictGroups(busy, machine.conflicts).reduce((best, group) => (time(group) > time(best) ? group : best));
  const first = longest.reduce((best, name) => (waits.get(name) > waits.get(best) ? name : best));
  const names = [first, ...longest.filter((name) => name !== first)];
  const component = (name) => used.get(name).component;
  if (new Set(names.map(component)).size > 1) return { name: names.map((name) => served(name, component(name))).join(" + "), time: time(longest) };
  return { name: served(names.join(" + "), component(first)), time: time(longest) };
}

function served(resource, component) {
  return component === null || component === resource ? resource : `${resource} on ${component}`;
}

function waitsOf(kernels, results) {
  const waits = new Map();
  for (const kernel of kernels) for (const [name, place] of kernel.bounds) waits.set(name, (waits.get(name) || 0) + results[place]);
  return waits;
}

// -- the table --

function buildKernels() {
  const names = [...new Set(facts.machines.flatMap((machine) => machine.kernels.map((kernel) => kernel.name)))];
  const energy = facts.machines.map((machine) => machine.energy !== null), several = facts.machines.length > 1;
  const columns = facts.machines.map((_, number) => ["time", "share", ...(energy[number] ? ["energy"] : []), "bound by"]);
  const heads = element("tr", {}, element("th", { scope: "col" }, "kernel"), ...columns.flatMap((list) => list.map((name) => element("th", { scope: "col" }, name))));
  const above = element("tr", {}, element("td", {}), ...columns.map((list, number) => element("th", { scope: "colgroup", colspan: list.length, class: `key machine-${(number % COLOURS) + 1}` }, machineTitle(number))));
  const body = element("tbody");
  names.forEach((name, place) => body.append(...kernelRows(name, place, columns)));
  const caption = element("caption", {}, "Time in each kernel without what it calls. Its name opens the formulas.");
  const whole = element("input", { type: "checkbox", id: "whole", onchange: () => refresh() });
  table.whole = whole;
  byId("kernels").append(
    element("p", { class: "choices" }, whole, element("label", { for: "whole" }, " also kernels that take no time")),
    element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table of kernels" }, element("table", {}, caption, element("thead", {}, several ? above : null, heads), body)),
  );
}

function kernelRows(name, place, columns) {
  const span = 1 + columns.reduce((total, list) => total + list.length, 0);
  const detail = element("tr", { class: "detail", id: `detail-${place}`, hidden: true }, element("td", { colspan: span }));
  const button = element("button", { type: "button", "aria-expanded": "false", "aria-controls": `detail-${place}`, title: name, onclick: () => {
    detail.hidden = !detail.hidden;
    button.setAttribute("aria-expanded", String(!detail.hidden));
    if (!detail.hidden) refresh();
  } }, name);
  const cells = columns.map((list) => list.map((column) => element("td", { class: column.replace(" ", "-") })));
  const bars = cells.map((list) => list[1].appendChild(element("span", { class: "bar" })));
  const shares = cells.map((list) => list[1].appendChild(element("span")));
  const row = element("tr", {}, element("th", { scope: "row" }, button), ...cells.flat());
  const kernels = facts.machines.map((machine) => machine.kernels.find((kernel) => kernel.name === name) || null);
  table.rows.push({ row, detail, cells, bars, shares, kernels, parts: null });
  return [row, detail];
}

function showKernels(all) {
  for (const item of table.rows) {
    let takesTime = false;
    item.kernels.forEach((kernel, number) => {
      const cells = item.cells[number], results = all[number], machine = facts.machines[number];
      if (kernel === null) return;
      const time = results[kernel.exclusive], runtime = results[machine.runtime.value];
      const share = runtime > 0 ? time / runtime : 0;
      takesTime = takesTime || !(time === 0);
      setText(cells[0], readable(time, "s"));
      setText(item.shares[number], Number.isFinite(share) ? percent(share) : "");
      item.bars[number].style.width = `${Math.max(0, Math.min(1, share || 0)) * 100}%`;
      const bound = boundBy(machine, results, waitsOf([kernel], results));
      if (kernel.energy !== null) setText(cells[2], readable(results[kernel.energy], "J"));
      setText(cells[cells.length - 1], bound ? bound.name : "");
    });
    item.row.hidden = !(takesTime || table.whole.checked);
    if (item.row.hidden) item.detail.hidden = true;
    if (!item.detail.hidden) showDetail(item, all);
  }
}

// -- what is behind a number --

function showDetail(item, all) {
  if (item.parts === null) {
    item.parts = [];
    item.kernels.forEach((kernel, number) => {
      if (kernel !== null) item.detail.firstChild.append(detailOf(kernel, number, item.parts));
    });
  }
  for (const part of item.parts) setText(part.node, part.text(all[part.number]));
}

function live(parts, number, text) {
  const node = element("span");
  parts.push({ node, number, text });
  return node;
}

function placeOf(place) {
  return place === null ? element("span", { class: "note" }, "made in Python") : element("span", {}, element("code", {}, place.line), " ", element("span", { class: "note" }, place.where));
}

function detailOf(kernel, number, parts) {
  const facts_ = [
    ["declared", placeOf(kernel.place)],
    ["calls", live(parts, number, (results) => readable(results[kernel.calls], ""))],
    ["with what it calls", live(parts, number, (results) => readable(results[kernel.inclusive], "s"))],
    ["seconds", element("code", {}, kernel.formula)],
  ];
  const steps = kernel.steps.map((step) => element("li", {}, stepOf(step, number, parts)));
  return element("div", { class: `behind machine-${(number % COLOURS) + 1}` }, element("h3", {}, machineTitle(number)), listOf(facts_), steps.length ? element("ol", {}, ...steps) : null);
}

function stepOf(step, number, parts) {
  const rows = [
    ["asks for", live(parts, number, (results) => `${readable(results[step.amount], step.unit)} over the run`)],
    ["written", placeOf(step.place)],
    ["instances", element("code", {}, step.instances)],
    ["served by", step.component === null ? "nothing: a time of its own" : step.component],
    ["seconds of an amount", element("code", {}, step.rate)],
    ["written", placeOf(step.rate_place)],
    ...step.traits.map(([name, formula]) => [`as ${name}`, element("code", {}, formula)]),
    ["takes", live(parts, number, (results) => readable(results[step.time], "s"))],
  ];
  return element("div", {}, element("strong", {}, step.block ? `${step.resource}, “${step.block}”` : step.resource), listOf(rows));
}

function listOf(rows) {
  return element("dl", {}, ...rows.flatMap(([term, told]) => [element("dt", {}, term), element("dd", {}, told)]));
}
