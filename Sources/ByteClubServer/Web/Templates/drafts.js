// Keeps what somebody writes in this browser until it is saved, so that nothing typed is lost with the page.

const prefix = "draft ";

/** The drafts of a form: by the note, and the version that it is based on. */
export class Draft {
  constructor(path) { this.key = prefix + path; }

  /** What is kept: `{ text, base, name, sent }`; null for none. */
  get kept() {
    try { return JSON.parse(localStorage.getItem(this.key)); } catch { return null; }
  }

  /** Keeps a text, or says that it could not. */
  keep(value) {
    try {
      localStorage.setItem(this.key, JSON.stringify({ ...value, at: Date.now() }));
      return true;
    } catch { return false; }
  }

  drop() {
    try { localStorage.removeItem(this.key); } catch { /* There is none where there is no room for one. */ }
  }
}

/** Whether a kept text is one that the page does not show and that was not saved. */
export function isOffered(kept, { text, base, hasProblem }) {
  if (!kept || typeof kept.text !== "string" || kept.text === text) return false;
  // It was sent, and the page shows a newer version without a complaint: it is saved, perhaps merged.
  return !(kept.sent && !hasProblem && kept.base !== base);
}
