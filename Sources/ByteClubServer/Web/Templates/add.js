// Adds files to the club, one after another. They are kept until the server has them, whatever becomes of the page;
// of the pages in a browser one sends, and all show how far it is, in a panel with one bar.
import { element, icon } from "./page.js";
import { alone, channel, forget, keep, kept, load, room, save, tab } from "./queue.js";
import { Stop, bring, interrupt } from "./send.js";

const isAddable = name => /\.(jpe?g|png|md|markdown|txt)$/i.test(name);

/** What is to be added, by key: `{ key, tab, name, folder, size, modified, hash, id, isOver, isKnown, words, isBad }`. */
const jobs = new Map();
/** The files that only this page has, and the keys of those that the browser keeps. */
const held = new Map(), keptKeys = new Set();
let pages = new Set(), count = 0;
let isSending = false, isWaiting = false, isKeeping = false, isAway = false;
let stop = null, current = null, sent = 0, rate = 0, last = null;

const waiting = () => [...jobs.values()].filter(job => !job.isOver && !job.isBad);
const has = job => held.has(job.key) || keptKeys.has(job.key);
const isLost = job => !has(job) && !pages.has(job.tab);
const shelf = job => JSON.parse(JSON.stringify(job));

// MARK: The panel

let panel, closing;

const size = bytes => bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.ceil(bytes / 1e3)} kB`;
function span(seconds) {
  if (seconds < 60) return `${Math.max(5, Math.ceil(seconds / 5) * 5)} s`;
  return seconds < 5400 ? `${Math.ceil(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** What the panel says, as all pages show it. */
function summary() {
  const all = [...jobs.values()], done = all.filter(job => job.isOver), open = waiting();
  const known = done.filter(job => job.isKnown).length, lost = open.filter(isLost).length;
  const bad = all.filter(job => job.isBad);
  const total = all.reduce((sum, job) => sum + job.size, 0);
  const over = [...done, ...bad].reduce((sum, job) => sum + job.size, 0) + (current ? sent : 0);
  const isOver = !open.length, files = `${done.length} of ${all.length}${known ? `, ${known} already there` : ""}`;
  let words = isOver ? done.length || !bad.length ? `Added ${files}` : "Not added" : `Adding ${files}`;
  let detail = "", action = "";
  if (stop) [detail, action] = [stop.message, stop.action];
  else if (isAway) detail = "The server is unreachable; this goes on when it is back";
  else if (!isSending && lost && lost === open.length) {
    detail = `The browser could not keep ${lost === 1 ? "a file" : `${lost} files`}. Choose them again to go on.`;
    action = "Choose files";
  } else if (current) {
    detail = rate > 0 ? `${size(rate)} a second, ${span((total - over) / rate)} left` : "";
  } else if (isOver && bad.some(has)) action = "Try again";
  const lines = all.filter(job => job.words).map(job => [job.name, job.words, job.isBad]);
  return { words, detail, action, isOver, lines, isStill: !isSending || isOver || isAway, share: total ? over / total : 1 };
}

function make() {
  panel = element("section", { className: "adding" });
  panel.setAttribute("aria-label", "Uploads");
  panel.innerHTML = `<p></p><progress max="1" aria-label="All uploads"></progress><p class="hint"></p><ul></ul>
<button type="button" class="act"></button><button type="button" class="icon-button"></button><p class="only-for-readers" role="status"></p>`;
  const [, , , , act, close] = panel.children;
  act.onclick = () => actions[act.textContent]();
  close.onclick = () => leave();
  close.append(icon("close"));
  document.body.append(panel);
}

function render(state) {
  if (!panel) make();
  const [words, bar, detail, list, act, close, status] = panel.children;
  words.textContent = state.words;
  bar.value = state.share;
  bar.hidden = state.isOver;
  detail.textContent = state.detail;
  detail.hidden = !state.detail;
  const lines = state.lines.map(([name, text, isBad]) =>
    element("li", { className: isBad ? "bad" : "" }, element("bdi", { textContent: name }), ` ${text}`));
  if (list.textContent !== lines.map(line => line.textContent).join("")) list.replaceChildren(...lines);
  act.textContent = state.action;
  act.hidden = !state.action;
  close.title = state.isOver ? "Close" : "Cancel";
  close.setAttribute("aria-label", state.isOver ? "Close" : "Cancel the uploads");
  // Readers hear of the beginning, of what stops, and of the end; not of each file.
  const spoken = state.isStill ? `${state.words}. ${state.detail}` : "Adding files";
  if (status.textContent !== spoken) status.textContent = spoken;
  clearTimeout(closing);
  if (state.isOver && !state.lines.length) closing = setTimeout(hide, 4000);
}

function hide() {
  panel?.remove();
  panel = null;
}

/** Shows how far it is, here and on the other pages. */
function show() {
  const state = summary();
  render(state);
  channel.postMessage({ state });
}

/** Forgets what is in the queue, on this page. */
function clear() {
  for (const map of [jobs, held, keptKeys]) map.clear();
  stop = null;
  interrupt();
  hide();
}

/** Gives up what is not added yet; asks first if there is something. */
export async function leave(question = "Stop adding, and forget the files that are not added yet?") {
  await read();
  if (waiting().length && !confirm(question)) return false;
  clear();
  channel.postMessage({ dropped: true });
  await forget();
  return true;
}

const actions = {
  "Sign in": () => location.reload(),
  "Reload the page": () => location.reload(),
  "Choose files": choose,
  async "Try again"() {
    await read();
    const again = [...jobs.values()].filter(job => job.isBad && has(job));
    for (const job of again) Object.assign(job, { isBad: false, words: "" });
    await save(...again.map(shelf));
    run();
  },
};

addEventListener("beforeunload", event => {
  // Only what the browser does not keep would be lost.
  if (waiting().some(job => held.has(job.key))) event.preventDefault();
});

// MARK: The queue

/** Reads the queue as it is kept; what this page is sending stays as it is. */
async function read() {
  const before = [...keptKeys], found = await load().catch(() => null);
  if (!found) return;
  pages = found.pages;
  // What was kept while this was read is not among what was found.
  for (const key of before) if (!found.kept.has(key)) keptKeys.delete(key);
  for (const key of found.kept) keptKeys.add(key);
  const kept = new Map(found.jobs.map(job => [job.key, job]));
  for (const key of [...jobs.keys()]) if (!kept.has(key) && !held.has(key)) jobs.delete(key);
  for (const [key, job] of kept) if (!isSending || !jobs.has(key)) jobs.set(key, job);
}

/** Lets the browser keep the files that only this page has, as far as there is room. */
async function keepHeld() {
  if (isKeeping) return;
  isKeeping = true;
  try {
    let left = await room() - waiting().reduce((sum, job) => sum + (keptKeys.has(job.key) ? job.size : 0), 0);
    for (const [key, file] of held) {
      const job = jobs.get(key);
      if (!job || job.isOver || file.size > left) continue;
      try {
        await keep(job, file);
      } catch (error) {
        // A file that cannot be read is told of when it is its turn.
        if (error?.name === "QuotaExceededError") break;
        continue;
      }
      left -= file.size;
      keptKeys.add(key);
      held.delete(key);
      // It was given up meanwhile.
      if (!jobs.has(key)) await forget([job]);
    }
  } finally {
    isKeeping = false;
  }
  channel.postMessage({ more: true });
}

/** Sends what waits, when no other page does. */
function run() {
  if (isWaiting) return;
  isWaiting = true;
  stop = null;
  alone(async () => {
    try {
      while (await read(), waiting().some(has)) {
        isSending = true;
        show();
        for (let job; (job = waiting().find(has));) await one(job);
      }
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      stop = error.message ? error : null;
    } finally {
      isSending = isWaiting = isAway = false;
      current = null;
    }
    await rest();
  });
}

/** After the last file: what is done need not be kept. */
async function rest() {
  if (!jobs.size) return;
  await read();
  show();
  dispatchEvent(new CustomEvent("added"));
  if (waiting().length) return;
  await forget([...jobs.values()].filter(job => job.isOver && !job.words));
}

async function one(job) {
  const change = async fields => {
    Object.assign(job, fields);
    if (jobs.has(job.key)) await save(shelf(job)).catch(() => {});
  };
  current = job;
  [sent, last] = [0, null];
  const tools = { ...job, isGone: () => !jobs.has(job.key), onWait() { isAway = true; show(); } };
  try {
    const file = held.get(job.key) ?? await kept(job);
    if (!file) throw new Error("is not there any more; choose it again");
    const { path, isKnown } = await bring(tools, file, async fields => {
      Object.assign(tools, fields);
      await change(fields);
    }, progress);
    const stored = path.slice(path.lastIndexOf("/") + 1);
    const isRenamed = !isKnown && stored && stored !== job.name;
    const words = isRenamed ? `is another file than the one of that name; stored as ${stored}` : "";
    await change({ isOver: true, isKnown, words });
    held.delete(job.key);
    keptKeys.delete(job.key);
    keepHeld();
  } catch (error) {
    if (error instanceof Stop) throw error;
    await change({ isBad: true, words: error.message });
  }
  isAway = false;
  current = null;
  show();
}

let drawn = 0;

/** Takes how much of the current file is sent, and makes the rate of the last seconds of it. */
function progress(bytes) {
  isAway = false;
  sent = Math.min(current?.size ?? 0, bytes);
  const now = performance.now();
  if (!last || bytes < last.bytes) last = { bytes, now };
  else if (now - last.now > 500) {
    const fresh = 1000 * (bytes - last.bytes) / (now - last.now);
    rate = rate ? 0.8 * rate + 0.2 * fresh : fresh;
    last = { bytes, now };
  }
  if (now - drawn < 200) return;
  drawn = now;
  show();
}

channel.onmessage = async ({ data }) => {
  if (data.dropped) clear();
  if (data.state && !isSending) render(data.state);
  if (data.more) isSending ? await read() : run();
};

/** Adds files: `{ file, folder }`, with the path of the album that each goes to, empty for none. */
export async function add(files) {
  await read();
  if (!isSending && !waiting().length) for (const job of [...jobs.values()]) if (job.isOver) jobs.delete(job.key);
  const fresh = [], lost = waiting().filter(isLost);
  for (const { file, folder } of files) {
    const known = lost.find(job =>
      !has(job) && job.name === file.name && job.size === file.size && job.modified === file.lastModified);
    const isGood = isAddable(file.name) && file.size;
    const job = known ?? {
      key: `${Date.now()} ${String(count += 1).padStart(7, "0")} ${tab}`, name: file.name, folder,
      size: file.size, modified: file.lastModified,
    };
    // The bytes of a file that is chosen again are hashed again.
    Object.assign(job, { tab, hash: undefined, isBad: !isGood,
      words: isGood ? "" : file.size ? "is not a photo (JPEG, PNG) or note (.md, .txt)" : "is empty" });
    jobs.set(job.key, job);
    if (isGood) held.set(job.key, file);
    fresh.push(job);
  }
  await save(...fresh.map(shelf)).catch(() => {});
  keepHeld();
  if (isSending) show();
  else run();
  channel.postMessage({ more: true });
}

// MARK: Choosing and dropping

const reading = directory => new Promise((done, fail) => {
  const reader = directory.createReader(), all = [];
  const next = () => reader.readEntries(some => some.length ? (all.push(...some), next()) : done(all), fail);
  next();
});

async function walk(entry, folder, found) {
  if (entry.name.startsWith(".")) return;
  if (entry.isFile) {
    const file = await new Promise((done, fail) => entry.file(done, fail));
    found.push({ file, folder });
  } else {
    const inside = folder ? `${folder}/${entry.name}` : entry.name;
    for (const child of await reading(entry)) await walk(child, inside, found);
  }
}

/** Adds what was dropped, folders with their structure: `items` with their entries, and `files` where there are none. */
export async function drop(transfer) {
  const entries = transfer.items.map(item => item.entry).filter(Boolean);
  const loose = entries.length ? [] : [...transfer.files].map(file => ({ file, folder: "" }));
  for (const entry of entries) await walk(entry, "", loose);
  if (loose.length) add(loose);
}

/** Lets files be chosen, and adds them. */
export function choose() {
  const input = element("input", { type: "file", multiple: true, accept: "image/jpeg,image/png,.md,.markdown,.txt" });
  input.onchange = () => add([...input.files].map(file => ({ file, folder: "" })));
  input.click();
}

const form = document.getElementById("upload");
form?.addEventListener("submit", event => {
  event.preventDefault();
  add([...form.elements.file.files].map(file => ({ file, folder: "" })));
  form.reset();
});

// What was left goes on.
run();
