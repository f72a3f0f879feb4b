// Starts the extension in a node without Visual Studio Code: `node activate.js EXTENSION SETTINGS`, where SETTINGS is
// JSON of settings without `aspen.`. The module `vscode` is made of what the extension and its client use; the client,
// vscode-languageclient, is the real one. Prints what happened as JSON.
"use strict";

const Module = require("module");
const path = require("path");
const [folder, settingsText] = process.argv.slice(2);
const settings = JSON.parse(settingsText);
const said = { errors: [], commands: [], updated: [], picked: null };

class Disposable {
  dispose() {}
}
class Emitter {
  constructor() {
    this.event = () => new Disposable();
  }
  fire() {}
  dispose() {}
}
class CancellationTokenSource {
  constructor() {
    this.token = { isCancellationRequested: false, onCancellationRequested: () => new Disposable() };
  }
  cancel() {}
  dispose() {}
}
class Uri {
  constructor(text) {
    this.text = text;
    this.scheme = "file";
    this.fsPath = text.replace("file://", "");
    this.path = this.fsPath;
  }
  toString() {
    return this.text;
  }
  static file(name) {
    return new Uri(`file://${name}`);
  }
  static parse(text) {
    return new Uri(text);
  }
}

// Whatever else is asked for: a class to inherit from, whose members are such again.
function anything(known) {
  return new Proxy(known, {
    get(target, name) {
      if (!(name in target) && typeof name === "string" && name !== "then")
        target[name] = /^on[A-Z]|^register|^create/.test(name) ? () => anything(new Disposable()) : /^[A-Z]/.test(name) ? anything(class {}) : anything({});
      return target[name];
    },
  });
}

const configuration = {
  get: (name, otherwise) => (name in settings ? settings[name] : otherwise),
  has: (name) => name in settings,
  inspect: () => undefined,
  update: async (name, value) => said.updated.push([name, value]),
  ...settings,
};
const vscode = anything({
  version: "1.91.0",
  Disposable, Uri, CancellationTokenSource, EventEmitter: Emitter,
  workspace: anything({
    getConfiguration: () => configuration,
    workspaceFolders: [{ uri: Uri.file(process.cwd()), name: "work", index: 0 }],
    textDocuments: [], notebookDocuments: [],
    fs: anything({ isWritableFileSystem: () => true }),
  }),
  window: anything({
    showErrorMessage: async (text) => said.errors.push(text),
    showQuickPick: async (items) => {
      said.picked = items.map((item) => item.label);
      return items.find((item) => item.label === "haswell");
    },
    visibleTextEditors: [], activeTextEditor: undefined,
    createOutputChannel: () => ({ append() {}, appendLine() {}, show() {}, dispose() {}, clear() {}, replace() {}, hide() {} }),
    tabGroups: anything({ all: [] }),
  }),
  commands: anything({
    registerCommand: (name, action) => { said.commands.push(name); said[name] = action; return new Disposable(); },
  }),
  languages: anything({
    createDiagnosticCollection: () => ({ set() {}, delete() {}, clear() {}, dispose() {}, get: () => [] }),
    match: () => 0,
  }),
  env: anything({ language: "en", appName: "test", machineId: "none" }),
  ConfigurationTarget: { Global: 1, Workspace: 2, WorkspaceFolder: 3 },
});

const load = Module._load;
Module._load = function (request, ...rest) {
  return request === "vscode" ? vscode : load.call(this, request, ...rest);
};

// What the server says above a kernel on the machine that the settings name.
async function lensesOf(started) {
  const uri = "untitled:model.aspen", text = "model m {\n  kernel main {\n    execute { flops [1e9] }\n  }\n}\n";
  await started.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: "aspen", version: 1, text } });
  for (let tries = 0; tries < 100; tries++) {
    const found = await started.sendRequest("textDocument/codeLens", { textDocument: { uri } });
    if (found && found.length) return found.map((lens) => lens.command.title);
    await new Promise((done) => setTimeout(done, 100));
  }
  return [];
}

(async () => {
  const client = require(path.join(folder, "node_modules/vscode-languageclient/node"));
  let started = null;
  const start = client.LanguageClient.prototype.start;
  client.LanguageClient.prototype.start = function () {
    started = this;
    return start.call(this);
  };
  const extension = require(path.join(folder, "extension.js"));
  await extension.activate({ subscriptions: [] });
  said.running = started.isRunning();
  if (said.running) {
    said.server = started.initializeResult.serverInfo.name;
    said.capabilities = Object.keys(started.initializeResult.capabilities).sort();
    if (settings.machine) said.lenses = await lensesOf(started);
    await said["aspen.chooseMachine"]();
    await said["aspen.restart"]();
    said.restarted = started.isRunning();
  }
  await extension.deactivate();
  said.stopped = !started.isRunning();
  process.stdout.write(JSON.stringify(said));
  process.exit(0);
})().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
