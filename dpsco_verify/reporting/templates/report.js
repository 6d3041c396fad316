"use strict";
// Figures are SVG, compressed.
async function unpack(plot) {
  const bytes = Uint8Array.from(atob(plot.dataset.drawing), (c) => c.charCodeAt(0));
  plot.innerHTML = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
document.querySelectorAll("[data-drawing]").forEach(unpack);
// The bar hides the readings that it does not ask for; on paper nothing is hidden.
const bar = document.getElementById("filter");
const words = bar.querySelector("input");
const choices = [...bar.querySelectorAll("select")];
const readings = [...document.querySelectorAll("[data-verdict]")];
const texts = new Map(readings.map((one) => [one, (one.textContent + " " + one.dataset.claim).toLowerCase()]));
const groups = [...document.querySelectorAll("article.claim, .readings tbody.group, #claims > section")];
function asked(one) {
  const wanted = words.value.toLowerCase().split(/\s+/);
  return choices.every((c) => !c.value || one.dataset[c.name] === c.value) && wanted.every((w) => texts.get(one).includes(w));
}
function filter() {
  for (const one of readings) one.classList.toggle("away", !asked(one));
  for (const group of groups) group.classList.toggle("away", !group.querySelector("[data-verdict]:not(.away)"));
  const rows = readings.filter((one) => one.tagName === "TR");
  bar.querySelector("output").textContent = `${rows.filter((one) => !one.classList.contains("away")).length} of ${rows.length}`;
}
bar.addEventListener("input", filter);
bar.addEventListener("submit", (event) => event.preventDefault());
bar.addEventListener("reset", () => setTimeout(filter));
// A link to a reading that is hidden shows all again.
addEventListener("hashchange", () => { if (document.querySelector(":target")?.closest(".away")) { bar.reset(); setTimeout(() => document.querySelector(":target").scrollIntoView(), 1); } });
bar.hidden = false;
filter();
