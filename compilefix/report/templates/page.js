"use strict";
const records = [...document.querySelectorAll(".record")];
const controls = [...document.querySelectorAll("[data-filter]")];
const search = document.getElementById("search");
const count = document.getElementById("count");

function apply() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const record of records) {
    const kept = words.every((word) => record.dataset.search.includes(word)) &&
      controls.every((one) => !one.value || record.dataset[one.dataset.filter].split("|").includes(one.value));
    record.hidden = !kept;
    shown += kept;
  }
  count.textContent = `${shown} of ${records.length} records`;
}

function open(id) {
  const record = document.getElementById(id);
  if (!record || !record.classList.contains("record")) return;
  if (record.hidden) { search.value = ""; controls.forEach((one) => { one.value = ""; }); apply(); }
  record.querySelector("details").open = true;
  record.scrollIntoView();
}

search.addEventListener("input", apply);
controls.forEach((one) => one.addEventListener("change", apply));
document.getElementById("reset").addEventListener("click", () => {
  search.value = "";
  controls.forEach((one) => { one.value = ""; });
  apply();
  search.focus();
});
document.getElementById("columns").addEventListener("change", (event) => {
  document.body.classList.toggle("by-release", event.target.value === "releases");
});
document.addEventListener("keydown", (event) => {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement.tagName);
  if (event.key === "/" && !typing) { event.preventDefault(); search.focus(); }
  if (event.key === "Escape" && document.activeElement === search) { search.value = ""; apply(); }
  if (typing || !["j", "k", "ArrowDown", "ArrowUp"].includes(event.key)) return;
  const rows = records.filter((one) => !one.hidden).map((one) => one.querySelector("summary"));
  const at = rows.indexOf(document.activeElement);
  if (at < 0 && event.key.startsWith("Arrow")) return;
  const step = event.key === "j" || event.key === "ArrowDown" ? 1 : -1;
  const next = rows[Math.min(Math.max(at + step, 0), rows.length - 1)];
  if (next) { event.preventDefault(); next.focus(); }
});
document.addEventListener("toggle", (event) => {
  const record = event.target.closest && event.target.closest(".record");
  if (record && event.target.open) history.replaceState(null, "", `#${record.id}`);
}, true);
window.addEventListener("hashchange", () => open(location.hash.slice(1)));
if (location.hash) open(location.hash.slice(1));
