// Elements of the page. Text is set as text, never as HTML.

function add(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

function element(name, properties = {}, ...children) {
  return add(document.createElement(name), properties, children);
}

// A shape of a picture; nothing where a place of it has no value.
function drawn(name, properties = {}, ...children) {
  const empty = Object.values(properties).some((value) => (typeof value === "number" ? !Number.isFinite(value) : String(value).includes("NaN")));
  if (empty) return document.createElementNS("http://www.w3.org/2000/svg", "g");
  return add(document.createElementNS("http://www.w3.org/2000/svg", name), properties, children);
}

function byId(id) {
  return document.getElementById(id);
}

// Sets a text only where it changed: the browser then lays out no more than it must.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const widths = new Map();

// The width of an element, measured once until the window changes: measuring after each change would lay the page out.
function widthOf(node, otherwise) {
  if (!widths.get(node)) widths.set(node, node.clientWidth);
  return widths.get(node) || otherwise;
}

// Calls an action once nothing has happened for some milliseconds.
function later(action, milliseconds) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
}
