// Brings one file to the server, in pieces that go on after whatever has happened.

/** The blocks of which the server's content hash is made; no piece is larger. */
const blockSize = 4 << 20;
const csrf = () => document.body.dataset.csrf ?? document.querySelector("[name=csrf]")?.value ?? "";

/** Why nothing more can be sent for now: `action` is what may help. */
export class Stop extends Error {
  constructor(words, action) {
    super(words);
    this.action = action;
  }
}

let request = null, wake = null;
// Pieces become smaller on a line that breaks often, so that little is sent twice.
let pieceSize = blockSize;

/** Ends the request that is under way, and the pause. */
export function interrupt() {
  request?.abort();
  wake?.();
}
addEventListener("online", () => wake?.());

/** Waits, longer after each failure, and for everybody else than for others; not longer than the network is away. */
const pause = (failures, least = 0) => new Promise(done => {
  wake = done;
  setTimeout(done, Math.max(least, Math.min(10000, 500 * 2 ** failures) * (0.5 + Math.random() / 2)));
});

/** Posts once; the status is 0 when no answer came, also when nothing has moved for a minute. */
const post = (address, body, fields, onProgress) => new Promise(done => {
  const made = request = new XMLHttpRequest();
  let timer;
  const watch = () => {
    clearTimeout(timer);
    timer = setTimeout(() => made.abort(), 60000);
  };
  made.open("POST", address);
  for (const [name, value] of Object.entries({ Accept: "text/plain", ...fields })) made.setRequestHeader(name, value);
  made.upload.onprogress = event => {
    watch();
    onProgress?.(event.loaded);
  };
  made.onloadend = () => {
    clearTimeout(timer);
    // These answers are plain text or JSON; a page is that of signing in, or of a form of another session.
    const isPage = made.status && made.getResponseHeader("Content-Type")?.startsWith("text/html");
    const status = isPage && (made.status < 400 || made.status === 403) ? 401 : made.status;
    done({ status, text: made.responseText, wait: made.getResponseHeader("Retry-After") });
  };
  watch();
  made.send(body);
});

/** Posts, and goes on trying while the server or the network is away, `once` until the first failure alone. */
async function send(job, address, body, { fields, onProgress, once } = {}) {
  for (let failures = 0; ; failures += 1) {
    if (job.isGone()) throw new Stop("");
    const answer = await post(address, body, fields, onProgress);
    const { status, text } = answer;
    if (job.isGone()) throw new Stop("");
    if (status === 401) throw new Stop("You are signed out", "Sign in");
    if (status === 403) throw new Stop(text || "This is not allowed", "Reload the page");
    if (status === 507) throw new Stop(text || "The club is full", "Try again");
    // Some servers before the club's take smaller bodies only.
    const isAway = status === 0 || status === 429 || status >= 500 || once && status === 413;
    if (!isAway || once) return { ...answer, isAway };
    if (failures) job.onWait();
    await pause(failures, 1000 * Math.min(60, answer.wait || 0));
  }
}

/** Hexadecimal SHA-256 over the SHA-256 of each block; nothing where the browser does not hash for pages without TLS. */
async function contentHash(read, size) {
  if (!crypto.subtle) return undefined;
  const parts = [];
  for (let at = 0; at < size; at += blockSize) {
    parts.push(new Uint8Array(await crypto.subtle.digest("SHA-256", await read(at, blockSize))));
  }
  const whole = await crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer());
  return [...new Uint8Array(whole)].map(byte => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Brings a file to the server; returns its path there, with `isKnown` when its bytes were there before.
 *
 * `job` has name, folder, modified, hash and id, the two last to be kept by `save` when they change.
 */
export async function bring(job, file, save, onProgress) {
  // What is read is sent: a file that changes meanwhile fails here, and not as a network would.
  const read = (at, size) => file.slice(at, at + size).arrayBuffer().catch(() => {
    throw new Error("has changed or is gone since it was chosen");
  });
  if (!job.hash) await save({ hash: await contentHash(read, file.size) });
  if (job.hash && !job.id) {
    const { status, text } = await send(job, "/gallery/upload/known", new URLSearchParams({ csrf: csrf(), hashes: job.hash }));
    const path = status === 200 && JSON.parse(text)[job.hash];
    if (path) return { path, isKnown: true };
  }
  for (let tries = 0; ; tries += 1) {
    await sendPieces(job, file.size, read, save, onProgress);
    const form = { csrf: csrf(), id: job.id, name: job.name, folder: job.folder, modified: job.modified };
    if (job.hash) form.hash = job.hash;
    const { status, text } = await send(job, "/gallery/upload/commit", new URLSearchParams(form));
    if (status === 200) return { path: text };
    if (tries === 2 || status !== 404 && status !== 409) throw new Error(text);
    // The server has forgotten the upload, or got other bytes.
    await save({ id: undefined });
  }
}

async function sendPieces(job, size, read, save, onProgress) {
  // An empty piece begins an upload, or asks where it stands.
  for (let at = null, failures = 0; at !== size;) {
    const isAsking = at === null, begins = at ?? 0;
    const query = new URLSearchParams(job.id ? { id: job.id, offset: begins } : { offset: 0 });
    const body = isAsking ? "" : await read(begins, Math.min(pieceSize, size - begins));
    const { status, text, isAway } = await send(job, `/gallery/upload/piece?${query}`, body, {
      fields: { "X-Form-Token": csrf(), "Content-Type": "application/octet-stream" },
      onProgress: loaded => onProgress(begins + loaded), once: !isAsking,
    });
    if (status === 200 || status === 409) {
      const { upload_id: id, offset } = JSON.parse(text);
      if (id !== job.id) await save({ id });
      at = offset;
      onProgress(at);
      if (!isAsking && status === 200) {
        failures = 0;
        pieceSize = Math.min(blockSize, 2 * pieceSize);
      }
    } else if (isAway) {
      if (failures > 8) throw new Error("could not be sent");
      pieceSize = Math.max(256 << 10, pieceSize / 2);
      at = null;
      await pause(failures);
      failures += 1;
    } else if (status === 404 && job.id) {
      await save({ id: undefined });
      at = null;
    } else if (status === 400 && isAsking && job.id) return;
    else throw new Error(text);
  }
}
