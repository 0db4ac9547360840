// Keeps what somebody writes in this browser until it is saved, so that nothing typed is lost with the page.
//
// It is kept twice: at once in localStorage, which Chromium writes to the disk seconds later, and in a database, which
// has it even when the browser is killed right after.

const prefix = "draft ";

/** The database's store of drafts, in a transaction of its own. */
let opened;
async function store(mode) {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("byteclub-drafts", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("drafts");
    request.onsuccess = () => resolve(request.result);
    request.onerror = reject;
  });
  return (await opened).transaction("drafts", mode).objectStore("drafts");
}
const done = request => new Promise((resolve, reject) => Object.assign(request, { onsuccess: () => resolve(request.result), onerror: reject }));

/** The draft of a form: of a note, or of a new one. */
export class Draft {
  constructor(path) { this.key = prefix + path; }

  /** What is kept: `{ text, base, name, sent, at }`; null for none. */
  async load() {
    const written = await store("readonly").then(drafts => done(drafts.get(this.key))).catch(() => null), kept = this.kept;
    return written && !(kept?.at >= written.at) ? written : kept;
  }

  /** What is kept as far as it is known at once. */
  get kept() {
    try { return JSON.parse(localStorage.getItem(this.key)); } catch { return null; }
  }

  /** Keeps a text, or says that it could not. */
  keep(value) {
    this.next = { ...value, at: Date.now() };
    this.write();
    try {
      localStorage.setItem(this.key, JSON.stringify(this.next));
      return true;
    } catch { return false; }
  }

  /** Writes the newest text to the database, and then the one that is newest by then. */
  async write() {
    if (this.isWriting) return;
    this.isWriting = true;
    try {
      for (let value; value !== this.next;) {
        value = this.next;
        const drafts = await store("readwrite"), written = done(value ? drafts.put(value, this.key) : drafts.delete(this.key));
        drafts.transaction.commit?.();
        await written;
      }
    } catch {
      // There is the other one.
    }
    this.isWriting = false;
  }

  drop() {
    this.next = null;
    this.write();
    try { localStorage.removeItem(this.key); } catch { /* There is none where there is no room for one. */ }
  }
}

/** Whether a kept text is one that the page does not show and that was not saved. */
export function isOffered(kept, { text, base, hasProblem }) {
  if (!kept || typeof kept.text !== "string" || kept.text === text) return false;
  // It was sent, and the page shows a newer version without a complaint: it is saved, perhaps merged.
  return !(kept.sent && !hasProblem && kept.base !== base);
}
