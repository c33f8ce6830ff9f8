"use strict";
const records = [...document.querySelectorAll(".record")];
const groups = [...document.querySelectorAll(".group")];
const controls = [...document.querySelectorAll("[data-filter]")];
const search = document.getElementById("search");
const count = document.getElementById("count");
const columns = document.getElementById("columns");

function apply() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const record of records) {
    const kept = words.every((word) => record.dataset.search.includes(word)) &&
      controls.every((one) => !one.value || record.dataset[one.dataset.filter].split("|").includes(one.value));
    record.hidden = !kept;
    shown += kept;
  }
  const all = shown === records.length;
  for (const group of groups) {
    group.hidden = !group.querySelector(".record:not([hidden])");
    if (group.tagName === "DETAILS") group.open = all ? "open" in group.dataset : !group.hidden;
  }
  count.textContent = `${shown} of ${records.length} ${count.dataset.of}`;
}

function showAll() {
  search.value = "";
  controls.forEach((one) => { one.value = ""; });
  apply();
}

function go(id) {
  const there = document.getElementById(id);
  if (!there) return;
  if (there.classList.contains("record")) {
    if (there.hidden) showAll();
    const around = there.closest("details");
    if (around) around.open = true;
    there.querySelector("details").open = true;
  } else if (there.hidden) showAll();
  there.scrollIntoView();
}

function remember(id) {
  // a page within a notebook has no address of its own
  try { history.replaceState(null, "", `#${id}`); } catch { /* nothing to remember it in */ }
}

function here() {
  try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; }
}

if (search) {
  search.addEventListener("input", apply);
  controls.forEach((one) => one.addEventListener("change", apply));
  document.getElementById("reset").addEventListener("click", () => { showAll(); search.focus(); });
}
if (columns) {
  columns.addEventListener("change", () => {
    document.body.classList.toggle("by-release", columns.value === "releases");
  });
}
document.addEventListener("keydown", (event) => {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement.tagName);
  if (event.ctrlKey || event.metaKey || event.altKey || !search) return;
  if (event.key === "/" && !typing) { event.preventDefault(); search.focus(); }
  if (event.key === "Escape" && document.activeElement === search) { search.value = ""; apply(); }
  if (typing || !["j", "k", "ArrowDown", "ArrowUp"].includes(event.key)) return;
  const rows = records.map((one) => one.querySelector("summary")).filter((one) => one.checkVisibility());
  const at = rows.indexOf(document.activeElement);
  if (at < 0 && event.key.startsWith("Arrow")) return;
  const step = event.key === "j" || event.key === "ArrowDown" ? 1 : -1;
  const next = rows[Math.min(Math.max(at + step, 0), rows.length - 1)];
  if (next) { event.preventDefault(); next.focus(); }
});
document.addEventListener("toggle", (event) => {
  const record = event.target.closest && event.target.closest(".record");
  if (record && event.target.open && document.activeElement === event.target.querySelector("summary")) {
    remember(record.id);
  }
}, true);
document.addEventListener("click", (event) => {
  const link = event.target.closest && event.target.closest('a[href^="#"]');
  if (!link) return;
  event.preventDefault();
  const id = decodeURIComponent(link.getAttribute("href").slice(1));
  remember(id);
  go(id);
  if (link.classList.contains("skip")) document.getElementById(id).focus();
});
window.addEventListener("hashchange", () => go(here()));
if (location.hash) go(here());
