// Memory: what the data structures take of the memory of a device, or of all memories, as bars against its capacity.

const memories = [];

function buildMemories() {
  facts.machines.forEach((machine, number) => {
    const memory = machine.memory;
    if (!memory) return;
    const names = [...memory.data.map((part) => part.name), "together"];
    const rows = names.map((name) => ({ bar: element("span", { class: "bar" }), mark: element("span", { class: "mark" }), text: element("span"), size: element("td", { class: "time" }), name }));
    const lines = rows.map((row) => element("tr", {}, element("th", { scope: "row" }, row.name), row.size, element("td", { class: "share" }, row.bar, row.mark, row.text)));
    const caption = element("caption"), area = element("div", { class: `wide memory machine-${(number % COLOURS) + 1}` },
      element("h3", {}, machineTitle(number)), element("table", {}, caption, element("tbody", {}, ...lines)));
    byId("memory").append(area);
    memories.push({ memory, number, rows, caption });
  });
  byId("memory-section").hidden = !memories.length;
}

function showMemories(all) {
  for (const { memory, number, rows, caption } of memories) {
    const results = all[number], capacity = results[memory.capacity];
    const sizes = memory.data.map((part) => results[part.size]);
    sizes.push(sizes.reduce((total, size) => total + size, 0));
    const full = sizes.at(-1) > capacity, longest = Math.max(capacity, ...sizes.filter(Number.isFinite));
    rows.forEach((row, place) => {
      const size = sizes[place], known = Number.isFinite(size);
      setText(row.size, known ? readable(size, "B") : "");
      setText(row.text, known ? percent(size / capacity) : "");
      row.bar.style.width = known ? `${(100 * size) / longest}%` : "0";
      row.mark.style.left = `${(100 * capacity) / longest}%`;
      row.bar.classList.toggle("full", full && place === rows.length - 1);
    });
    setText(caption, `${memory.shared ? "All" : "One"} ${memory.name}: ${readable(capacity, "B")}. ${Number.isFinite(sizes.at(-1)) ? `The data ${full ? "do not fit" : "fit"}.` : ""}`);
  }
}
