// The page: files in an editor, a command line, and what the command says.
const element = (id) => document.getElementById(id);
const [file, library, machine, text, colours, command, output, status, stop] =
  ["file", "library", "machine", "text", "colours", "command", "output", "status", "stop"].map(element);

const EXAMPLE = `// A triad with a reduction over the ranks, a few times.
model app {
  param n = 1e8 in 1e6 .. 1e10  // elements in all
  param steps = 100 in 1 .. 1000
  param ranks = 8 in 1 .. 4096
  param word = 8 B

  data a as Array(n, word)
  data b as Array(n, word)
  data c as Array(n, word)

  kernel triad {
    execute [ranks] of [n/ranks] "a = b + q*c" {
      flops [2*n/ranks] as dp, simd, fmad
      loads [n/ranks] of size [word] from b
      loads [n/ranks] of size [word] from c
      stores [n/ranks] of size [word] to a
    }
  }

  kernel residual {
    execute [ranks] "sum over all ranks" {
      messages [word] as allreduce(ranks)
    }
  }

  kernel main {
    iterate [steps] {
      call triad
      call residual
    }
  }
}
`;

const BUTTONS = {
  Predict: (app, on) => `eval ${app} --machine ${on}`,
  Explain: (app, on) => `explain ${app} --machine ${on}`,
  Roofline: (app, on) => `roofline ${app} --machine ${on}`,
  Formula: (app, on) => {
    const free = [...(models.get(app) ?? "").matchAll(/^\s*param (\w+)[^/\n]*\bin\b/gm)].map((found) => found[1]);
    return `expr ${app} --machine ${on}${free.length ? ` --free ${free.join(",")}` : ""}`;
  },
  Check: (app, on) => `check ${app} --machine ${on}`,
  "What-if page": (app, on) => `page ${app} --machine ${on} -o what_if.html`,
};

const models = new Map([["app.aspen", EXAMPLE]]);
const unsaved = new Set(models.keys());
const history = [];
let worker, waiting, library_names, place = 0;
let application = "app.aspen"; // the one that the buttons ask about: the last that was open

const ask = (kind, options = {}) =>
  new Promise((resolve, reject) => {
    const id = crypto.randomUUID();
    waiting.set(id, { resolve, reject });
    worker.postMessage({ id, kind, ...options });
  });

function say(words, failed = false) {
  status.textContent = words;
  status.classList.toggle("failed", failed);
}

function start() {
  waiting = new Map();
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.kind === "status") say(data.text);
    else if (data.kind === "lost") say(data.text, true);
    else if (data.kind === "ready") begin(data.library);
    else {
      const { resolve, reject } = waiting.get(data.id);
      waiting.delete(data.id);
      if (data.failure) reject(new Error(data.failure));
      else resolve(data);
    }
  };
}

function enable(on) {
  for (const one of document.querySelectorAll("select, #command, #line button, #buttons button")) one.disabled = !on;
  stop.disabled = on;
}

function begin(names) {
  library_names = names;
  if (library.options.length === 1) {
    for (const [folder, title] of [["apps", "applications"], ["machines", "machines"]]) {
      const group = library.appendChild(document.createElement("optgroup"));
      group.label = title;
      for (const name of names[folder]) group.append(new Option(name, `${folder}/${name}`));
    }
  }
  list_machines();
  enable(true);
  say("Ready.");
  color();
}

function list_machines() {
  const chosen = machine.value || "epyc_9654";
  const own = [...models].filter(([, source]) => /^\s*machine\b/m.test(source)).map(([name]) => name);
  machine.replaceChildren(...[...own, ...library_names.machines].map((name) => new Option(name)));
  machine.value = [...machine.options].some((option) => option.value === chosen) ? chosen : "epyc_9654";
}

function choose_machine(name) {
  machine.value = name;
  command.value = command.value.replace(/(--machine[ =])\S+/, `$1${name}`);
}

function open_model(name) {
  if (![...file.options].some((option) => option.value === name)) file.append(new Option(name));
  file.value = name;
  text.value = models.get(name);
  if (/^\s*model\b/m.test(text.value)) application = name;
  color();
}

let delayed;
function color() {
  element("text").parentElement.classList.add("plain");
  clearTimeout(delayed);
  delayed = setTimeout(async () => {
    const shown = text.value;
    const answer = await ask("color", { text: shown }).catch(() => null);
    if (!answer || text.value !== shown) return;
    colours.innerHTML = answer.html;
    text.parentElement.classList.remove("plain");
    follow();
  }, 60);
}

function follow() {
  colours.scrollTop = text.scrollTop;
  colours.scrollLeft = text.scrollLeft;
}

const KINDS = { html: "text/html", svg: "image/svg+xml", png: "image/png" };
const kind_of = (name) => KINDS[name.split(".").at(-1)];

function link_to(name, bytes) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: kind_of(name) ?? "application/octet-stream" }));
  link.download = name;
  return link;
}

function show_file(name, bytes) {
  const kind = kind_of(name);
  const link = link_to(name, bytes);
  link.textContent = `Download ${name}`;
  output.append(link);
  if (kind === "text/html") {
    const frame = output.appendChild(document.createElement("iframe"));
    frame.title = name;
    frame.setAttribute("sandbox", "allow-scripts allow-downloads"); // no origin of its own: it reaches nothing of this page
    frame.srcdoc = new TextDecoder().decode(bytes);
  } else if (kind) {
    const picture = output.appendChild(document.createElement("img"));
    picture.alt = name;
    picture.src = link.href;
  }
}

async function run(line) {
  enable(false);
  say(`aspenpy ${line} …`);
  if (history.at(-1) !== line) history.push(line);
  place = history.length;
  const began = performance.now();
  const asked = worker;
  try {
    for (const name of unsaved) await ask("save", { name, text: models.get(name) });
    unsaved.clear();
    const result = await ask("run", { line });
    output.replaceChildren();
    const shown = output.appendChild(document.createElement("pre"));
    shown.tabIndex = 0; // a keyboard scrolls it
    shown.innerHTML = result.output; // by rich, which escapes what it is given
    shown.classList.toggle("wrapped", shown.textContent.split("\n").some((one) => one.length > 200)); // formulas
    for (const [name, bytes] of Object.entries(result.files)) {
      if (name.endsWith(".aspen")) models.set(name, new TextDecoder().decode(bytes)), open_model(name), list_machines();
      else show_file(name, bytes);
    }
    const took = `${((performance.now() - began) / 1000).toFixed(1)} s`;
    say(result.status ? `Ended with status ${result.status} after ${took}.` : `Done in ${took}.`, Boolean(result.status));
  } catch (error) {
    output.replaceChildren();
    say(error.message, true);
  }
  if (worker === asked) enable(true); // else Python begins anew, and says when it is ready
}

text.addEventListener("input", () => {
  models.set(file.value, text.value);
  unsaved.add(file.value);
  list_machines();
  color();
});
text.addEventListener("scroll", follow);
file.addEventListener("change", () => open_model(file.value));
element("save").addEventListener("click", () => link_to(file.value, text.value).click());
library.addEventListener("change", async () => {
  const [folder, name] = library.value.split("/");
  library.value = "";
  let copied = `my_${name}.aspen`;
  for (let copy = 2; models.has(copied); copy++) copied = `my_${name}_${copy}.aspen`; // what was edited stays
  models.set(copied, (await ask("copy", { name })).text);
  unsaved.add(copied);
  open_model(copied);
  list_machines();
  if (folder === "apps") command.value = BUTTONS.Predict(copied, machine.value);
  else choose_machine(copied);
});
machine.addEventListener("change", () => choose_machine(machine.value));
element("line").addEventListener("submit", (event) => {
  event.preventDefault();
  run(command.value);
});
command.addEventListener("keydown", (event) => {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!step || !(place + step in history)) return;
  event.preventDefault();
  command.value = history[(place += step)];
});
stop.addEventListener("click", () => {
  worker.terminate();
  stop.disabled = true;
  const left = [...waiting.values()];
  for (const name of models.keys()) unsaved.add(name);
  start();
  for (const { reject } of left) reject(new Error("Stopped; Python is loaded again …"));
});

for (const [name, line] of Object.entries(BUTTONS)) {
  const button = element("buttons").appendChild(document.createElement("button"));
  button.textContent = name;
  button.disabled = true;
  button.addEventListener("click", () => {
    command.value = line(application, machine.value);
    run(command.value);
  });
}
start();
open_model("app.aspen");
