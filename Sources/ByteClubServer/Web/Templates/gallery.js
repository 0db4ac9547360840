// Turns the page's list of days into one timeline of everything. Without it the page works as well.

import { Scrubber } from "./scrubber.js";
import { Selection } from "./select.js";
import { Timeline } from "./timeline.js";

const days = document.getElementById("days"), pill = document.getElementById("news");
const place = "timeline " + location.pathname + location.search;

/** Asks the server for a part of what the page shows. */
async function ask(what, fields = {}) {
  const query = new URLSearchParams(days.dataset.query);
  for (const [name, value] of Object.entries(fields)) query.set(name, value);
  const answer = await fetch(`/gallery/${what}?${query}`, { headers: { Accept: "application/json" } });
  if (!answer.ok || answer.redirected) throw new Error(answer.statusText);
  return answer.json();
}

/** The index, of which each second element is the list of a day. */
async function askIndex(fields) {
  const index = await ask("index", fields), pairs = index.days;
  index.days = [];
  for (let at = 0; at < pairs.length; at += 2) index.days.push({ number: pairs[at], ratios: pairs[at + 1] });
  return index;
}

const timeline = new Timeline(days, ask);
const scrubber = new Scrubber(timeline, document.getElementById("scrubber"));
new Selection(timeline);
timeline.changed = () => scrubber.update();

let isLoading = false, isStale = false, rested = 0, news = null, tries = 0;

/** Shows an index at once. */
function show(index) {
  news = null;
  pill.hidden = true;
  timeline.show(index);
  document.getElementById("nothing").hidden = timeline.count > 0;
  // Photos that have just come are read within seconds.
  const isUnread = index.days.some((day) => day.ratios.some((ratio) => ratio < 0));
  if (isUnread && tries++ < 20) setTimeout(refresh, 700 * tries);
}

/** Looks for what has changed: what is new waits until somebody wants to see it, so that nothing moves. */
async function refresh() {
  if (isLoading) { isStale = true; return; }
  isLoading = true;
  try {
    do {
      isStale = false;
      // While much changes, the server works for this page a tenth of the time at most.
      await new Promise((done) => setTimeout(done, rested - performance.now()));
      const start = performance.now(), index = await askIndex({ since: timeline.index.revision });
      rested = performance.now() + Math.max(200, 10 * (performance.now() - start));
      const words = [[index.photos, "photo"], [index.notes, "note"]].filter(([count]) => count)
        .map(([count, name]) => `${count} new ${name}${count > 1 ? "s" : ""}`);
      if (!words.length || timeline.count === 0) { show(index); continue; }
      news = index;
      pill.querySelector("span").textContent = words.join(" and ");
      pill.hidden = false;
    } while (isStale);
  } catch { /* The next event tries again. */ } finally {
    isLoading = false;
  }
}

timeline.stale = () => { if (!news) refresh(); };
pill.addEventListener("click", () => {
  if (!news) return;
  show(news);
  scrollTo({ top: 0, behavior: "instant" });
});
// What was added in this very page is wanted.
addEventListener("added", () => refresh().then(() => { if (news) show(news); }));

let events;

/** Listens while the page is seen: a browser has few connections to a server, which all its pages share. */
function listen() {
  events?.close();
  if (document.visibilityState !== "visible") return;
  events = new EventSource("/gallery/events?after=" + (news ?? timeline.index).revision);
  events.addEventListener("change", refresh);
}

async function start() {
  const index = await askIndex();
  document.querySelector(".gallery").classList.add("timeline");
  days.replaceChildren();
  history.scrollRestoration = "manual";
  show(index);
  const known = sessionStorage.getItem(place), [visit] = performance.getEntriesByType("navigation");
  const before = new URLSearchParams(location.search).get("before");
  if (known && visit?.type !== "navigate") timeline.restore(JSON.parse(known));
  else if (before) timeline.open(Math.floor((parseInt(before, 10) - 1) / 86400));
  timeline.draw();
  listen();
  document.addEventListener("visibilitychange", listen);
  addEventListener("pageshow", (event) => { if (event.persisted) listen(); });
  addEventListener("pagehide", () => {
    events?.close();
    const anchor = timeline.anchor();
    if (anchor) sessionStorage.setItem(place, JSON.stringify(anchor)); else sessionStorage.removeItem(place);
  });
}

start().catch(() => document.querySelector(".gallery").classList.add("plain"));
