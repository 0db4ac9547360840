// The others who edit a note, and what they have saved in the meantime.
import { api, element } from "./page.js";

const place = document.querySelector(".presence");
let timer, shown = place?.textContent, report = () => {}, isEditing = () => false;

/** The newest version that this page knows. */
let revision = place?.dataset.rev;

/** Calls back with `{ rev, author, text }` for each newer version, again if it says false; `rev` is missing when the note is gone. */
export function watch(callback, isOpen = isEditing) {
  [report, isEditing] = [callback, isOpen];
  if (place) beat();
}

/** Asks now, and says whether the editor is open. */
export async function beat() {
  clearTimeout(timer);
  let wait = 10000;
  try {
    const fields = { path: place.dataset.path, rev: revision ?? "" }, address = "/notes/presence";
    const answer = isEditing() ? await api(address, { ...fields, editing: 1 }) : await (await fetch(`${address}?${new URLSearchParams(fields)}`)).json();
    show(answer.editing);
    if (answer.editing.length) wait = 4000;
    if (answer.rev !== revision && await report(answer) !== false) revision = answer.rev;
  } catch {
    // The next one may succeed.
  }
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(beat, wait);
}

/** Says that the editor is closed, also while the page goes. */
export function leave() {
  navigator.sendBeacon("/notes/presence", new URLSearchParams({ csrf: document.body.dataset.csrf, path: place.dataset.path }));
}

function show(names) {
  const text = names.join("\n");
  if (text === shown) return;
  shown = text;
  place.replaceChildren(...names.map(name => {
    const avatar = element("span", { className: "avatar", textContent: [...name][0]?.toUpperCase() });
    avatar.setAttribute("aria-hidden", "true");
    return element("span", {}, avatar, element("bdi", { textContent: name }), " is editing");
  }));
}

if (place) {
  document.addEventListener("visibilitychange", () => document.hidden ? clearTimeout(timer) : beat());
  addEventListener("pagehide", () => { if (isEditing()) leave(); });
}
