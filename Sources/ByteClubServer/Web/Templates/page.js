// What all pages share: menus that close, messages that pass, and requests of other scripts.

const menus = () => document.querySelectorAll("details.menu[open]");

addEventListener("click", event => {
  for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
});
addEventListener("keydown", event => {
  if (event.key === "Escape") {
    for (const menu of menus()) {
      menu.open = false;
      menu.firstElementChild.focus();
    }
  }
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const field = document.querySelector(".search input");
    if (field) {
      event.preventDefault();
      field.focus();
    }
  }
});

/** A new element with properties and children. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const sprite = new URL("icons.svg", import.meta.url).pathname;

/** One of the icons. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg", made = document.createElementNS(space, "svg");
  made.setAttribute("class", "icon");
  made.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `${sprite}#${name}`);
  made.append(use);
  return made;
}

let shown;
// A message is at the end of the page, and gone before Tab is there.
addEventListener("keydown", event => {
  const button = shown?.isConnected && shown.querySelector("button");
  if (!button || event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.target.closest?.("input, textarea")) return;
  event.preventDefault();
  button.click();
});

/** Shows a message for some seconds, as long as nobody points at it, with a button for `run` if there is an `action`. */
export function toast(text, { action, run } = {}) {
  shown?.remove();
  const made = shown = element("div", { className: "toast", role: "status" }, text);
  if (action) {
    made.append(element("button", { type: "button", textContent: action, title: `${action} (Ctrl+Z)`, onclick() { made.remove(); run(); } }));
  }
  document.body.append(made);
  let timer;
  const wait = () => { timer = setTimeout(() => made.remove(), action ? 10000 : 5000); };
  made.onpointerenter = made.onfocusin = () => clearTimeout(timer);
  made.onpointerleave = made.onfocusout = wait;
  wait();
}

/** Sends fields as a form of this session, and returns the JSON that was answered; throws what the server said. */
export async function api(path, fields = {}) {
  const body = new URLSearchParams({ csrf: document.body.dataset.csrf ?? "", ...fields });
  const answer = await fetch(path, { method: "POST", body, headers: { Accept: "application/json" } });
  const text = await answer.text();
  let value;
  try { value = JSON.parse(text); } catch { value = null; }
  if (!answer.ok) throw new Error(value?.error ?? `the server answered ${answer.status}`);
  return value;
}

/** Copies a text to the clipboard, and says so. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied");
  } catch {
    prompt("Copy this:", text);
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button.dataset.copy));
}

// Files are added from any page: by the button, or dropped anywhere.
const adding = document.querySelector("a.add");
if (adding) {
  const load = () => import("./add.js");
  const hasFiles = event => [...event.dataTransfer?.types ?? []].includes("Files");
  adding.addEventListener("click", event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || location.pathname === "/add") return;
    event.preventDefault();
    load().then(script => script.choose());
  });
  let depth = 0;
  const mark = isOver => document.body.classList.toggle("dropping", isOver);
  addEventListener("dragenter", event => { if (hasFiles(event)) { depth += 1; mark(true); load(); } });
  addEventListener("dragleave", event => { if (hasFiles(event)) { depth -= 1; mark(depth > 0); } });
  addEventListener("dragover", event => { if (hasFiles(event)) event.preventDefault(); });
  addEventListener("drop", event => {
    depth = 0;
    mark(false);
    if (!hasFiles(event) || event.defaultPrevented) return;
    event.preventDefault();
    // The list of what was dropped is empty as soon as this returns, and so is read before the script is awaited.
    const { items, files } = event.dataTransfer;
    const kept = { items: [...items].map(item => ({ entry: item.webkitGetAsEntry?.() })), files: [...files] };
    load().then(script => script.drop(kept));
  });
  // What was chosen on another page goes on from here; at signing out it is forgotten.
  const queue = `uploads ${document.body.dataset.member}`, isWaiting = () => localStorage.getItem(queue);
  if (location.pathname === "/add" || isWaiting()) load();
  addEventListener("storage", event => { if (event.key === queue && event.newValue) load(); });
  document.querySelector("form[action='/logout']").addEventListener("submit", async event => {
    if (!isWaiting()) return;
    event.preventDefault();
    const script = await load();
    if (await script.leave("Sign out, and forget the files that are not added yet?")) event.target.submit();
  });
}
