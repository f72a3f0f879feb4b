// Controls: a slider and a field for each input.

const controls = [];
const STEPS = 400; // places of a slider whose values are no small whole numbers

function buildControls(changed) {
  const form = byId("controls");
  form.addEventListener("submit", (event) => event.preventDefault());
  const groups = [null, ...facts.machines.keys()];
  for (const machine of groups) {
    const places = facts.inputs.flatMap((input, place) => (input.machine === machine ? [place] : []));
    if (!places.length) continue;
    const title = machine === null ? `Parameters of ${facts.application}` : `Parameters of ${machineTitle(machine)}`;
    const open = machine === null || facts.inputs.length <= 12 || !facts.inputs.some((input) => input.machine === null);
    form.append(element("details", { open, class: machine === null ? "" : `machine-${(machine % COLOURS) + 1}` }, element("summary", {}, `${title} (${places.length})`), ...places.map((place) => control(place, changed))));
  }
}

// A list for a parameter whose values have names; where it is declared, below it.
function choice(place, changed) {
  const input = facts.inputs[place], id = `input-${place}`;
  const list = element("select", { id, "aria-describedby": `${id}-place`, onchange: () => set(place, list.selectedIndex, changed) }, ...input.choices.map((name) => element("option", {}, name)));
  const note = element("span", { class: "note", id: `${id}-place` }, input.place === null ? "" : input.place.where), before = element("span", { class: "before" });
  controls[place] = { list, before };
  return element("div", { class: "control" }, element("label", { for: id, id: `${id}-label`, title: input.name }, input.name), list, note, before);
}

function control(place, changed) {
  if (facts.inputs[place].choices.length) return choice(place, changed);
  const input = facts.inputs[place], id = `input-${place}`, scale = new Scale(input.low, input.high, input.log, 0, STEPS);
  const direct = input.whole && !scale.log && scale.high - scale.low <= 1000;
  const range = direct ? { min: scale.low, max: scale.high, step: 1 } : { min: 0, max: STEPS, step: 1 };
  const slider = element("input", { type: "range", id: `${id}-slider`, "aria-labelledby": `${id}-label`, ...range, oninput: () => {
    const exact = direct ? Number(slider.value) : scale.value(slider.value / STEPS);
    set(place, rounded(exact, input, state.values[place]), changed);
  } });
  const field = element("input", { type: "text", inputmode: "decimal", id, autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-place ${id}-before`, onchange: () => {
    const value = typed(field.value, input.unit, state.values);
    field.setAttribute("aria-invalid", String(!Number.isFinite(value)));
    if (Number.isFinite(value)) set(place, value, changed);
    else setText(before, `expected a number${input.unit ? `, a quantity in ${input.unit}` : " without a unit"} or an expression such as 2*128`);
  } });
  const range_ = `${readable(input.low, input.unit)} to ${readable(input.high, input.unit)}`;
  const source = input.place === null ? range_ : `${range_} · ${input.place.where}`;
  const note = element("span", { class: "note", id: `${id}-place`, title: input.place === null ? "" : `${input.place.line}\n${input.place.where}` }, source);
  const before = element("span", { class: "before", id: `${id}-before` });
  controls[place] = { slider, field, before, position: (value) => (direct ? value : Math.round(scale.at(value))) };
  return element("div", { class: "control" }, element("label", { for: id, id: `${id}-label`, title: input.name }, input.name), element("span", { class: "field" }, field, element("span", { class: "unit" }, input.per_rank ? `${input.unit} per rank`.trim() : input.unit)), slider, note, before);
}

// Three digits, whole where the model's value is; a step of the slider changes the value in any case.
function rounded(exact, input, old) {
  const ends = exact <= input.low ? input.low : exact >= input.high ? input.high : NaN;
  if (!Number.isNaN(ends)) return ends;
  const value = input.whole ? Math.round(exact < 1000 ? exact : Number(exact.toPrecision(3))) : Number(exact.toPrecision(3));
  return value === old && input.whole && exact !== old ? old + Math.sign(exact - old) : value;
}

function set(place, value, changed) {
  state.values[place] = value;
  changed(place);
}

function showControls() {
  controls.forEach(({ list, slider, field, before, position }, place) => {
    const input = facts.inputs[place], value = state.values[place], from = state.pinned ? state.pinned[place] : input.value;
    setText(before, value === from ? "" : `${state.pinned ? "baseline" : "model"}: ${shownValue(from, input, 4)}`);
    if (list) {
      list.selectedIndex = value;
      return;
    }
    const at = String(position(value));
    if (document.activeElement !== slider && slider.value !== at) slider.value = at;
    slider.setAttribute("aria-valuetext", readable(value, input.unit, 4));
    if (document.activeElement !== field || typed(field.value, input.unit, state.values) !== value) field.value = written(value, input.unit);
    field.removeAttribute("aria-invalid");
  });
}
