// Adds files to the club, one after another, in pieces that go on after a lost network. The panel has one bar for all.
import { element, icon } from "./page.js";

/** The size of a piece, and of the blocks of which the server's content hash is made. */
const pieceSize = 4 << 20;
const isAddable = name => /\.(jpe?g|png|md|markdown|txt)$/i.test(name);
const pause = time => new Promise(done => setTimeout(done, time));

const queue = [], problems = [];
const told = { files: 0, done: 0, known: 0, bytes: 0, sent: 0 };
let panel, isSending = false, isCancelled = false, current = null;

/** Hexadecimal SHA-256 over the SHA-256 of each block; null where the browser does not hash for pages without TLS. */
async function contentHash(file) {
  if (!crypto.subtle) return null;
  const parts = [];
  for (let at = 0; at < file.size; at += pieceSize) {
    const block = await file.slice(at, at + pieceSize).arrayBuffer();
    parts.push(new Uint8Array(await crypto.subtle.digest("SHA-256", block)));
  }
  const whole = await crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer());
  return [...new Uint8Array(whole)].map(byte => byte.toString(16).padStart(2, "0")).join("");
}

// MARK: The panel

function show() {
  if (!panel) {
    panel = element("section", { className: "adding" });
    panel.setAttribute("aria-label", "Uploads");
    panel.innerHTML = `<p role="status"></p><progress max="1" value="0" aria-label="All uploads"></progress><ul></ul>`;
    const close = element("button", { type: "button", className: "icon-button", title: "Cancel", onclick: cancel }, icon("close"));
    close.setAttribute("aria-label", "Cancel the uploads");
    panel.append(close);
    document.body.append(panel);
  }
  const isOver = told.done + problems.length >= told.files;
  const words = isCancelled ? "Cancelled" : isOver ? "Added" : "Adding";
  const known = told.known ? `, ${told.known} already there` : "";
  panel.querySelector("p").textContent = `${words} ${told.done} of ${told.files}${known}`;
  const bar = panel.querySelector("progress");
  bar.value = told.bytes ? told.sent / told.bytes : 0;
  bar.hidden = isOver;
  if (isOver) {
    panel.querySelector("button").title = "Close";
    panel.querySelector("button").setAttribute("aria-label", "Close");
  }
}

function line(name, words, isProblem = true) {
  panel.querySelector("ul").append(element("li", { className: isProblem ? "bad" : "" }, element("bdi", { textContent: name }), ` ${words}`));
}

function cancel() {
  if (!isSending) {
    panel.remove();
    panel = null;
    problems.length = 0;
    Object.assign(told, { files: 0, done: 0, known: 0, bytes: 0, sent: 0 });
    return;
  }
  isCancelled = true;
  queue.length = 0;
  current?.abort();
}

const ask = event => { if (isSending) event.preventDefault(); };

// MARK: Sending

/** Sends a request, and goes on trying while the server or the network is away. */
async function send(address, body, fields, onProgress) {
  for (let wait = 1000; ; wait = Math.min(2 * wait, 30000)) {
    if (isCancelled) throw new Error("cancelled");
    const answer = await new Promise(done => {
      const request = current = new XMLHttpRequest();
      request.open("POST", address);
      for (const [name, value] of Object.entries({ Accept: "text/plain", ...fields })) request.setRequestHeader(name, value);
      if (onProgress) request.upload.onprogress = event => onProgress(event.loaded);
      request.onload = () => done({ status: request.status, text: request.responseText });
      request.onerror = request.onabort = () => done({ status: 0, text: "" });
      request.send(body);
    });
    const isAway = answer.status === 0 || answer.status === 429 || answer.status >= 500 && answer.status !== 507;
    if (isCancelled) throw new Error("cancelled");
    if (!isAway) return answer;
    panel.querySelector("p").textContent = "The server is unreachable; the upload goes on when it is back";
    await pause(wait);
  }
}

const csrf = () => document.body.dataset.csrf ?? document.querySelector("[name=csrf]")?.value ?? "";

async function upload({ file, folder }) {
  const before = told.sent, name = file.name;
  const hash = await contentHash(file);
  if (hash) {
    const answer = await send("/gallery/upload/known", new URLSearchParams({ csrf: csrf(), hashes: hash }));
    if (answer.status === 200 && JSON.parse(answer.text)[hash]) {
      told.known += 1;
      told.done += 1;
      told.sent = before + file.size;
      return;
    }
  }
  const key = ["upload", folder, name, file.size, file.lastModified].join(" ");
  let id = localStorage.getItem(key), at = 0;
  while (!id || at < file.size) {
    const query = new URLSearchParams(id ? { id, offset: at } : { offset: 0 });
    const fields = { "X-Form-Token": csrf(), "Content-Type": "application/octet-stream" };
    const { status, text } = await send(`/gallery/upload/piece?${query}`, file.slice(at, at + pieceSize), fields, loaded => {
      told.sent = before + Math.min(file.size, at + loaded);
      show();
    });
    if (status === 200 || status === 409) {
      ({ upload_id: id, offset: at } = JSON.parse(text));
      localStorage.setItem(key, id);
    } else if (id && (status === 404 || status === 400)) {
      localStorage.removeItem(key);
      [id, at] = [null, 0];
    } else throw new Error(text || "was not sent");
  }
  const form = new URLSearchParams({ csrf: csrf(), id, name, folder, modified: file.lastModified });
  const { status, text } = await send("/gallery/upload/commit", form);
  localStorage.removeItem(key);
  if (status !== 200) throw new Error(text);
  const stored = text.slice(text.lastIndexOf("/") + 1);
  if (text && stored !== name) line(name, `is another file than the one of that name; stored as ${stored}`, false);
  told.done += 1;
  told.sent = before + file.size;
}

async function run() {
  if (isSending) return;
  isSending = true;
  isCancelled = false;
  addEventListener("beforeunload", ask);
  for (let job; (job = queue.shift());) {
    show();
    try {
      await upload(job);
    } catch (error) {
      problems.push(job);
      line(job.file.name, error.message);
    }
  }
  isSending = false;
  current = null;
  removeEventListener("beforeunload", ask);
  show();
  dispatchEvent(new CustomEvent("added"));
  if (!problems.length && !panel.querySelector("li")) setTimeout(() => { if (!isSending && panel) cancel(); }, 4000);
}

/** Adds files: `{ file, folder }`, with the path of the album that each goes to, empty for none. */
export function add(files) {
  const good = files.filter(({ file }) => isAddable(file.name) && file.size);
  told.files += files.length;
  show();
  for (const { file } of files) {
    if (isAddable(file.name) && file.size) continue;
    problems.push(file);
    line(file.name, file.size ? "is not a photo (JPEG, PNG) or note (.md, .txt)" : "is empty");
  }
  for (const job of good) told.bytes += job.file.size;
  queue.push(...good);
  run();
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
