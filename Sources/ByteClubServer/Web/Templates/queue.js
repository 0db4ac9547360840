// Keeps what a member has chosen and the server does not have yet, so that it outlives the page and the browser.
// Browsers copy the bytes (1.2 GB take Chromium three seconds), so even a file that is gone from the disk is sent.

const { member } = document.body.dataset;

/** The name of the member's database, lock and channel, and of the mark in the storage that there is a queue. */
export const name = `uploads ${member}`;
let canKeep = !!(member && globalThis.indexedDB && navigator.locks);
/** The name of this page in the jobs that it has made. */
export const tab = canKeep ? crypto.randomUUID() : "";
/** What pages of this browser tell each other. */
export const channel = canKeep ? new BroadcastChannel(name) : { postMessage() {} };
// The page has this lock as long as it lives: so others see whether files are held by a page or lost with it.
if (canKeep) navigator.locks.request(tab, () => new Promise(() => {}));

let opened;
const open = () => opened ??= new Promise((done, fail) => {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("jobs", { keyPath: "key" });
    request.result.createObjectStore("files");
  };
  request.onsuccess = () => done(request.result);
  request.onerror = () => fail(request.error);
});

/** Works with both stores in one transaction; what `work` returns is a request, whose result comes once all is kept. */
async function within(work) {
  const database = canKeep && await open().catch(() => { canKeep = false; });
  if (!database) return undefined;
  const all = database.transaction(["jobs", "files"], "readwrite");
  const request = work(all.objectStore("jobs"), all.objectStore("files"));
  return new Promise((done, fail) => {
    all.oncomplete = () => done(request?.result);
    all.onabort = () => fail(all.error);
  });
}

/** Marks in the storage, which every page reads first, whether there are jobs. */
async function mark() {
  if (await within(jobs => jobs.count())) localStorage.setItem(name, "1");
  else localStorage.removeItem(name);
}

/** All jobs in their order, the keys of the files that are kept, and the pages that are open; nothing where nothing can be kept. */
export async function load() {
  const jobs = await within(jobs => jobs.getAll());
  if (!jobs) return null;
  const kept = new Set(await within((_, files) => files.getAllKeys()));
  const pages = new Set((await navigator.locks.query()).held.map(lock => lock.name));
  return { jobs, kept, pages };
}

/** Keeps jobs; those that are done or refused let go of their files. */
export async function save(...changed) {
  await within((jobs, files) => {
    for (const job of changed) {
      jobs.put(job);
      if (job.isOver) files.delete(job.key);
    }
  });
  await mark();
}

export const keep = (job, file) => within((_, files) => files.put(file, job.key));
export const kept = job => within((_, files) => files.get(job.key));

/** Forgets jobs with their files; all jobs without a list. */
export async function forget(gone) {
  await within((jobs, files) => {
    for (const store of [jobs, files]) {
      if (!gone) store.clear();
      else for (const job of gone) store.delete(job.key);
    }
  });
  await mark();
}

/** Does something while no other page of this browser does it. */
export const alone = work => canKeep ? navigator.locks.request(name, work) : work();

/** The bytes that may be kept at once: a part of the room that the browser has. */
export async function room() {
  if (!canKeep) return 0;
  const { quota = 0, usage = 0 } = await navigator.storage?.estimate?.() ?? {};
  return Math.min(2 ** 31, (quota - usage) / 2);
}
