// Python in a thread of its own, so that the page answers while a command runs, and can stop it.
import { PYODIDE, PACKAGES, FIRST, LATER } from "./sources.js";

const MODULES = "/home/pyodide"; // where Python looks for modules, whatever folder is the current one

let python, runner;

async function unpack(names) {
  for (const name of names) {
    const answer = await fetch(`packages/${name}`);
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
    python.unpackArchive(await answer.arrayBuffer(), "wheel", { extractDir: MODULES });
  }
  python.runPython("import importlib; importlib.invalidate_caches()");
}

async function begin() {
  const { loadPyodide } = await import(`${PYODIDE}pyodide.mjs`);
  python = await loadPyodide({ indexURL: PYODIDE, packageBaseUrl: PACKAGES });
  postMessage({ kind: "status", text: "aspenpy is loaded …" });
  python.runPython(`import sys; sys.path.append("${MODULES}")`);
  await unpack(FIRST);
  python.FS.writeFile(`${MODULES}/runner.py`, await (await fetch("runner.py")).text());
  runner = python.pyimport("runner");
  runner.begin();
  postMessage({ kind: "ready", library: runner.list_library().toJs({ dict_converter: Object.fromEntries }) });
}

const ready = begin().catch((error) => postMessage({ kind: "lost", text: `Python could not be loaded: ${error.message}` }));

async function load(name) {
  postMessage({ kind: "status", text: `${name} is loaded …` });
  if (LATER[name]) return unpack(LATER[name]);
  const failures = [];
  const note = (text) => failures.push(text);
  await python.loadPackage(name, { messageCallback: () => {}, errorCallback: note }).catch((error) => note(error.message));
  if (!failures.length) return;
  if (/No known package/.test(failures[0])) throw new Error(`this command does not run in a browser: it uses ${name} of the system`);
  throw new Error(`this command takes the package ${name}, which could not be fetched from ${PACKAGES}`);
}

async function run(line) {
  const asked = new Set();
  if (line.includes("--picture")) await load("matplotlib");
  for (;;) {
    try {
      const proxy = runner.run_line(line);
      const result = proxy.toJs({ dict_converter: Object.fromEntries });
      proxy.destroy();
      return result;
    } catch (error) {
      const missing = /ModuleNotFoundError: No module named '(\w+)/.exec(error.message)?.[1];
      if (!missing || asked.has(missing)) throw error;
      asked.add(missing);
      await load(missing);
    }
  }
}

const answers = {
  color: ({ text }) => ({ html: runner.color_model(text) }),
  copy: ({ name }) => ({ text: runner.library_text(name) }),
  save: ({ name, text }) => runner.save(name, text) ?? {},
  run: ({ line }) => run(line),
};

self.onmessage = async ({ data }) => {
  await ready;
  try {
    postMessage({ kind: "answer", id: data.id, ...(await answers[data.kind](data)) });
  } catch (error) {
    postMessage({ kind: "answer", id: data.id, failure: error.message.trim().split("\n").at(-1) });
  }
};
