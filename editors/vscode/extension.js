// A client of `aspenpy lsp`: all that is known of the language is known there.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const settings = vscode.workspace.getConfiguration("aspen");
  const server = { command: settings.get("command"), args: ["lsp"] };
  const options = {
    documentSelector: [{ language: "aspen" }],
    initializationOptions: { machine: settings.get("machine") },
    synchronize: {
      configurationSection: "aspen",
      fileEvents: vscode.workspace.createFileSystemWatcher("**/*.aspen"),
    },
  };
  client = new LanguageClient("aspen", "Aspen", server, options);
  try {
    await client.start();
  } catch (error) {
    const hint = "pip install 'aspenpy[lsp]', and set aspen.command to the program";
    vscode.window.showErrorMessage(`${server.command} lsp does not start: ${hint}`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running !== undefined) await running.stop().catch(() => undefined);
}

async function chooseMachine() {
  if (client === undefined) return;
  const machines = await client.sendRequest("workspace/executeCommand", { command: "aspen.machines" });
  const items = [{ label: "no machine", name: "" }, ...machines.map((name) => ({ label: name, name }))];
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: "a machine of the library" });
  if (chosen === undefined) return;
  const inFolder = vscode.workspace.workspaceFolders !== undefined;
  const target = inFolder ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  await vscode.workspace.getConfiguration("aspen").update("machine", chosen.name, target);
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("aspen.chooseMachine", chooseMachine),
    vscode.commands.registerCommand("aspen.restart", async () => {
      await stop();
      await start();
    }),
  );
  await start();
};

exports.deactivate = stop;
