// Turns the page's list of days into one timeline of everything. Without it the page works as well.

import { Scrubber } from "./scrubber.js";
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
timeline.changed = () => { if (!timeline.index.isPart) scrubber.update(); };

let isLoading = false, isStale = false, isWanted = false, rested = 0, news = null, tries = 0;

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
      if (!words.length || timeline.count === 0 || isWanted) { show(index); continue; }
      news = index;
      pill.querySelector("span").textContent = words.join(" and ");
      pill.hidden = false;
    } while (isStale);
  } catch { /* The next event tries again. */ } finally {
    isLoading = isWanted = false;
  }
}

// What comes with the items is not what the index tells any more.
timeline.stale = () => { if (news) show(news); else refresh(); };
pill.addEventListener("click", () => {
  if (!news) return;
  show(news);
  scrollTo({ top: 0, behavior: "instant" });
});
// What was added in this very page is wanted.
addEventListener("added", () => { isWanted = true; refresh(); });

let events;

/** Listens while the page is seen: a browser has few connections to a server, which all its pages share. */
function listen() {
  events?.close();
  if (document.visibilityState !== "visible") return;
  events = new EventSource("/gallery/events?after=" + (news ?? timeline.index).revision);
  events.addEventListener("change", refresh);
}

/** What the page has is shown at once: the first days of the index, and their items with their pictures. */
function showFirst() {
  const index = { isPart: true, revision: +days.dataset.revision, step: 60, days: [], marks: [] }, items = [];
  for (const section of days.children) {
    const day = { number: +section.dataset.day, ratios: [] };
    for (const tile of section.querySelectorAll("li")) {
      const image = tile.querySelector("img"), text = (part) => tile.querySelector(part)?.textContent;
      day.ratios.push(+tile.dataset.ratio);
      items.push(Timeline.keyed({
        day: day.number, ratio: day.ratios.at(-1), url: tile.querySelector("a").getAttribute("href"),
        ...image ? { image, hash: image.src.split("/").at(-2), alt: image.alt,
          width: +image.getAttribute("width"), height: +image.getAttribute("height"), badge: text(".badge"), caption: text(".caption"), colours: tile.dataset.colours }
          : { title: text(".title"), text: text(".words") },
      }));
    }
    index.days.push(day);
  }
  // The last day may have more.
  if (index.days.length > 1 && document.querySelector(".more [rel=next]")) index.days.pop();
  const picture = items.find((item) => item.image)?.image;
  days.replaceChildren();
  timeline.show(index, items);
  return new Promise((done) => {
    if (!picture || picture.complete) done();
    for (const end of ["load", "error"]) picture?.addEventListener(end, done);
    setTimeout(done, 1000);
  });
}

async function start() {
  const known = sessionStorage.getItem(place), [visit] = performance.getEntriesByType("navigation");
  const before = new URLSearchParams(location.search).get("before"), isBack = known && visit?.type !== "navigate";
  history.scrollRestoration = "manual";
  if (days.children.length && !isBack && !document.querySelector(".more [rel=prev]")) await showFirst();
  const index = await askIndex();
  if (!timeline.index) days.replaceChildren();
  show(index);
  if (isBack) timeline.restore(JSON.parse(known));
  else if (before) timeline.open(Math.floor((parseInt(before, 10) - 1) / 86400));
  timeline.draw();
  const { Selection } = await import("./select.js");
  new Selection(timeline);
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
