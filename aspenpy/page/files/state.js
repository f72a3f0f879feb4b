// State: the values of the inputs, the pinned baseline, and what the curve shows; the link holds all of it.

const facts = JSON.parse(byId("data").textContent);
const METRICS = [
  { name: "runtime", unit: "s", of: ([runtime]) => runtime },
  { name: "energy", unit: "J", of: ([, energy]) => energy },
  { name: "power", unit: "W", of: ([runtime, energy]) => energy / runtime },
  { name: "energy-delay product", unit: "J s", of: ([runtime, energy]) => energy * runtime },
];
// The curve begins over the first number: a choice among names has no way from one to the next.
const FIRST_AXIS = Math.max(0, facts.inputs.findIndex((input) => !input.choices.length));

const state = { values: facts.inputs.map((input) => input.value), pinned: null, axis: FIRST_AXIS, metric: 0 };

function titleOf(input) {
  return input.machine === null ? input.name : `${input.name} (${machineTitle(input.machine)})`;
}

// Of several machines with one name the socket tells them apart, or the place.
function machineTitle(number) {
  const { name, socket } = facts.machines[number], alike = facts.machines.filter((machine) => machine.name === name);
  if (alike.length === 1) return name;
  return alike.filter((machine) => machine.socket === socket).length === 1 ? `${name}, ${socket}` : `${name} ${number + 1}`;
}

// A value as a reader wants it: the name of a choice, or a number with its unit.
function shownValue(value, input, most) {
  return input.choices.length ? input.choices[value] || NO_VALUE : readable(value, input.unit, most);
}

function keyOf(input) {
  return input.machine === null ? input.name : `${input.machine}:${input.name}`;
}

// The arguments of a machine's functions.
function argumentsOf(number, values) {
  return facts.machines[number].inputs.map((input) => values[input]);
}

function computed(number, values) {
  return machines[number].all(argumentsOf(number, values));
}

function headline(number, values) {
  return machines[number].headline(argumentsOf(number, values));
}

// The values by name, for a notebook that shows the page in a frame; of several machines with their number in front.
function namedValues() {
  const name = (input) => (facts.machines.length === 1 ? input.name : keyOf(input));
  return Object.fromEntries(facts.inputs.map((input, place) => {
    const value = state.values[place];
    return [name(input), input.choices.length ? input.choices[value] : value];
  }));
}

// -- the link --

function linkText() {
  const link = new URLSearchParams();
  facts.inputs.forEach((input, place) => {
    const held = (value) => (input.choices.length ? input.choices[value] : String(value));
    if (state.values[place] !== input.value) link.set(keyOf(input), held(state.values[place]));
    if (state.pinned && state.pinned[place] !== input.value) link.set(`pin:${keyOf(input)}`, held(state.pinned[place]));
  });
  if (state.pinned) link.set("pinned", "1");
  if (state.axis !== FIRST_AXIS) link.set("axis", keyOf(facts.inputs[state.axis]));
  if (state.metric) link.set("metric", METRICS[state.metric].name);
  return "#" + link.toString();
}

function readLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  const from = (key, input) => {
    const text = link.get(key), value = text === null || text === "" ? NaN : input.choices.length ? input.choices.indexOf(text) : Number(text);
    return Number.isFinite(value) && !(input.choices.length && value < 0) ? value : input.value;
  };
  state.values = facts.inputs.map((input) => from(keyOf(input), input));
  state.pinned = link.has("pinned") ? facts.inputs.map((input) => from(`pin:${keyOf(input)}`, input)) : null;
  const axis = facts.inputs.findIndex((input) => keyOf(input) === link.get("axis"));
  state.axis = axis < 0 ? FIRST_AXIS : axis;
  state.metric = Math.max(0, METRICS.findIndex((metric) => metric.name === link.get("metric")));
}
