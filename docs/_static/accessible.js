// What the theme leaves out for screen readers and the keyboard: levels of headings, names of parts, and boxes that scroll.
document.addEventListener("DOMContentLoaded", () => {
  for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.setAttribute("aria-level", "2");
  const parts = { ".sidebar-drawer": "Pages", ".toc-drawer": "On this page", ".content-icon-container": "Tools" };
  for (const [place, name] of Object.entries(parts)) {
    for (const part of document.querySelectorAll(place)) {
      part.setAttribute("aria-label", name);
      if (place === ".content-icon-container") part.setAttribute("role", "region");
    }
  }
  for (const box of document.querySelectorAll("pre, .table-wrapper")) box.tabIndex = 0;
  for (const head of document.querySelectorAll("th")) if (!head.textContent.trim()) head.setAttribute("role", "presentation");
  if (!document.querySelector("h1")) {  // the page of the search has one where there is no JavaScript
    const title = document.createElement("h1");
    title.textContent = document.title.split(" - ")[0];
    document.querySelector("article").prepend(title);
  }
});
