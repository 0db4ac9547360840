// The page of a photo: its keys and swipes, the panel of information, and actions without a new page.

import { api, copy, element, toast } from "./page.js";

const main = document.querySelector("main.photo");
main.classList.add("scripted");
const find = selector => document.querySelector(selector);
const figure = find("figure.viewer"), info = find("#info"), about = find("#about"), keys = find("#keys");
const isNarrow = matchMedia("(max-width: 48rem)");

// The panel stays as it was on the last photo.
const remembered = "photo-info";
function setInfo(isOpen, keeps = true) {
  main.classList.toggle("with-info", isOpen);
  about.setAttribute("aria-expanded", isOpen);
  if (keeps) localStorage.setItem(remembered, isOpen ? "1" : "");
}
setInfo(main.classList.contains("with-info") || localStorage.getItem(remembered) === "1", false);
about.setAttribute("role", "button");
about.addEventListener("click", event => {
  event.preventDefault();
  showInfo();
});
function showInfo() {
  if (isNarrow.matches) info.scrollIntoView({ behavior: "smooth" });
  else setInfo(!main.classList.contains("with-info"));
}

// Neighbours take this page's place in the browser's history, so that one step back is where one came from.
const go = rel => {
  const link = find(`.stage > a[rel=${rel}]`);
  if (link) location.replace(link.href);
  return !!link;
};
for (const link of document.querySelectorAll(".stage > a[rel]")) {
  link.addEventListener("click", event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    location.replace(link.href);
  });
}
const back = find("#back");
back.addEventListener("click", event => {
  const { navigation } = window, last = navigation?.entries()[navigation.currentEntry.index - 1]?.url;
  const path = last && new URL(last).pathname;
  if (event.ctrlKey || event.metaKey || event.shiftKey || !path || !/^\/(gallery|albums(\/.*)?)?$/.test(path)) return;
  event.preventDefault();
  history.back();
});

// Keys; those of the picture are its own wherever they are pressed.
document.addEventListener("keydown", event => {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
  if (find("dialog[open], details.menu[open]")) return;
  if (event.target.closest("input, textarea, select")) return;
  const { key, shiftKey } = event, isArrow = key.startsWith("Arrow");
  const isTaken = /^(Arrow\w+|Home|[-+=_frplso])$/i.test(key)
    && !figure.dispatchEvent(new CustomEvent("act", { cancelable: true, detail: { key, shiftKey } }));
  const actions = {
    "[": () => go("prev"), PageUp: () => go("prev"), ArrowLeft: () => go("prev"),
    "]": () => go("next"), PageDown: () => go("next"), ArrowRight: () => go("next"),
    i: showInfo, I: showInfo, "?": () => keys.showModal(),
    Escape: () => placing ? place(false) : figure.classList.contains("full") ? false : back.click()
  };
  if (!isTaken && (isArrow && shiftKey || !actions[key] || actions[key]() === false)) return;
  event.preventDefault();
});
find("#help").addEventListener("click", () => keys.showModal());

// Swipes lead on where they do not look around, and are not the browser's, which would go back in its history.
let touch;
const frame = figure.firstElementChild, fits = () => frame.scrollWidth <= frame.clientWidth + 1;
const sized = new ResizeObserver(() => { frame.style.touchAction = fits() ? "pan-y pinch-zoom" : ""; });
for (const each of [frame, frame.firstElementChild]) sized.observe(each);
figure.addEventListener("touchstart", event => {
  const one = event.touches.length === 1 && !figure.classList.contains("live") && event.touches[0];
  touch = one && fits() ? { x: one.clientX, y: one.clientY } : null;
}, { passive: true });
figure.addEventListener("touchend", event => {
  const end = event.changedTouches[0], right = touch ? end.clientX - touch.x : 0;
  if (Math.abs(right) > 60 && Math.abs(right) > 2 * Math.abs(end.clientY - touch.y)) go(right > 0 ? "prev" : "next");
  touch = null;
}, { passive: true });

// A link is made and copied without a new page.
find("#share")?.addEventListener("submit", async event => {
  event.preventDefault();
  const form = event.target, fields = Object.fromEntries(new FormData(form));
  try {
    const { url } = await api(form.getAttribute("action"), fields);
    form.parentElement.querySelector(".made")?.remove();
    const field = element("input", { readOnly: true, value: url });
    field.setAttribute("aria-label", "The link");
    form.parentElement.querySelector("h2").after(element("div", { className: "made" }, field,
      element("button", { type: "button", textContent: "Copy", onclick: () => copy(url) })));
    field.select();
  } catch (error) {
    toast(error.message);
  }
});

// After a deletion the next photo is shown, with a way to undo.
const undone = "photo-deleted";
find("#delete")?.addEventListener("submit", async event => {
  event.preventDefault();
  const form = event.target, action = form.getAttribute("action");
  try {
    await api(action, Object.fromEntries(new FormData(form)));
    const restore = action.replace("/photo/delete", "/photo/restore");
    sessionStorage.setItem(undone, JSON.stringify({ restore, name: find(".over h1").textContent }));
    if (!go("next") && !go("prev")) location.reload();
  } catch (error) {
    toast(error.message);
  }
});
const deleted = JSON.parse(sessionStorage.getItem(undone) ?? "null");
sessionStorage.removeItem(undone);
if (deleted) {
  toast(`Deleted ${deleted.name}`, { action: "Undo", run: async () => {
    try {
      const { location: page } = await api(deleted.restore);
      location.replace(page);
    } catch (error) {
      toast(error.message);
    }
  } });
}

// A spot is chosen by a click into the picture, or by Enter for its middle.
let placing = null, middle = null;
const spot = find("#spot");
figure.addEventListener("drawn", event => middle = event.detail);
function place(isOn) {
  placing?.remove();
  placing = isOn ? element("p", { className: "placing-hint", textContent: "Click where the link belongs, or press Enter for the middle" }) : null;
  find(".stage").classList.toggle("placing", isOn);
  if (!isOn) return;
  find(".stage").append(placing);
  find("canvas")?.focus();
}
function choose({ yaw, pitch }) {
  place(false);
  spot.elements.yaw.value = yaw.toFixed(1);
  spot.elements.pitch.value = pitch.toFixed(1);
  setInfo(true);
  find("#spots").open = true;
  spot.elements.target.focus();
}
find("#place")?.addEventListener("click", () => place(true));
figure.addEventListener("picked", event => placing && choose(event.detail));
figure.addEventListener("keydown", event => {
  if (!placing || event.key !== "Enter" || !middle) return;
  event.preventDefault();
  choose(middle);
});
