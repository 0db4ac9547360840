// Shows what others add while the page is open, and uploads files one after another. Without it the page works as well.

const find = (id) => document.getElementById(id);

// MARK: Live

let isLoading = false, isStale = false, rested = 0;

/** Takes over the list of days from the server, and leaves the focus on what it was. */
async function refresh() {
  if (isLoading) { isStale = true; return; }
  isLoading = true;
  try {
    do {
      isStale = false;
      // While much changes, the server works for this page a tenth of the time at most.
      await new Promise((done) => setTimeout(done, rested - performance.now()));
      const start = performance.now();
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      rested = performance.now() + Math.max(200, 10 * (performance.now() - start));
      if (!answer.ok || answer.redirected) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("days");
      if (!fresh) return;
      const days = find("days");
      const focused = days.contains(document.activeElement) && document.activeElement.getAttribute("href");
      days.replaceWith(document.adoptNode(fresh));
      if (focused) fresh.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    } while (isStale);
  } catch { /* The next event tries again. */ } finally {
    isLoading = false;
  }
}

let events;

/** Listens while the page is seen: a browser has few connections to a server, which all its pages share. */
function listen() {
  events?.close();
  if (document.visibilityState !== "visible") return;
  events = new EventSource("/gallery/events?after=" + find("days").dataset.revision);
  events.addEventListener("change", refresh);
}

listen();
document.addEventListener("visibilitychange", listen);
addEventListener("pagehide", () => events?.close());
addEventListener("pageshow", (event) => { if (event.persisted) listen(); });

// MARK: Upload

const form = find("upload");
/** From how many bytes on a file goes in pieces, of so many bytes each. */
const pieceSize = 4 << 20;
const queue = [];
let isSending = false;

function element(name, text) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  return made;
}

/** Puts a file at the end of the queue, with a line that shows how far it is. */
function add(file) {
  const line = element("li"), text = element("span"), bar = element("progress"), cancel = element("button", "Cancel");
  bar.max = 1;
  bar.value = 0;
  bar.setAttribute("aria-label", file.name);
  cancel.className = "quiet";
  cancel.type = "button";
  line.append(element("bdi", file.name), bar, text, cancel);
  find("uploads").append(line);
  const job = { file, text, bar, cancel, line, request: null, at: 0 };
  cancel.onclick = () => {
    const index = queue.indexOf(job);
    if (index >= 0) queue.splice(index, 1);
    if (job.request) job.request.abort(); else end(job, "cancelled");
  };
  queue.push(job);
  next();
}

function end(job, words) {
  job.text.textContent = words;
  job.bar.remove();
  job.cancel.remove();
}

function next() {
  if (isSending) return;
  const job = queue.shift();
  if (!job) return;
  isSending = true;
  if (job.file.size > pieceSize) return sendPieces(job);
  const data = new FormData();
  data.append("csrf", form.elements.csrf.value);
  data.append("file", job.file);
  post(job, form.getAttribute("action"), data, (status, answer) => {
    if (status === 200) refresh();
    leave(job, status === 200 ? "done" : answer || "not sent: the server is not there, or took no more of it");
  });
}

/** Ends a file's turn. */
function leave(job, words) {
  end(job, words);
  isSending = false;
  next();
}

/** Shows how many bytes of a file have gone. */
function show(job, bytes) {
  job.bar.value = bytes / job.file.size;
  job.text.textContent = bytes < job.file.size ? Math.floor(100 * job.bar.value) + " %" : "storing";
}

/** Sends a request of a file's, and tells the status, 0 when there was no answer, and what was said. */
function post(job, address, body, done, fields = {}) {
  const request = job.request = new XMLHttpRequest(), before = job.at;
  request.open("POST", address);
  for (const [name, value] of Object.entries({ Accept: "text/plain", ...fields })) request.setRequestHeader(name, value);
  request.upload.onprogress = (event) => {
    if (event.lengthComputable) show(job, before + Math.min(event.loaded, job.file.size - before));
  };
  request.onload = () => done(request.status, request.responseText.slice(0, 300));
  request.onabort = () => leave(job, "cancelled");
  request.onerror = () => done(0, "");
  request.send(body);
}

/** Sends a large file in pieces, and goes on where an earlier page, or one without a network, has ended. */
function sendPieces(job) {
  const key = ["upload", job.file.name, job.file.size, job.file.lastModified].join(" ");
  let id = localStorage.getItem(key), pause = 1000;
  const later = (work) => {
    job.text.textContent = "the server is unreachable; resuming from " + Math.floor(100 * job.at / job.file.size) + " %";
    const timer = setTimeout(work, pause);
    pause = Math.min(2 * pause, 30000);
    job.request = { abort() { clearTimeout(timer); leave(job, "cancelled"); } };
  };
  const isAway = (status) => status === 0 || status === 429 || status >= 500 && status !== 507;
  const send = () => {
    if (id && job.at >= job.file.size) return commit();
    const query = new URLSearchParams(id ? { id, offset: job.at } : { offset: 0 });
    const piece = job.file.slice(job.at, job.at + pieceSize);
    post(job, "/gallery/upload/piece?" + query, piece, (status, answer) => {
      if (status === 200 || status === 409) {
        ({ upload_id: id, offset: job.at } = JSON.parse(answer));
        localStorage.setItem(key, id);
        pause = 1000;
        send();
      } else if (id && (status === 404 || status === 400)) {
        localStorage.removeItem(key);
        [id, job.at] = [null, 0];
        send();
      } else if (isAway(status)) later(send); else leave(job, answer);
    }, { "X-Form-Token": form.elements.csrf.value, "Content-Type": "application/octet-stream" });
  };
  const commit = () => {
    const data = new URLSearchParams({ csrf: form.elements.csrf.value, id, name: job.file.name });
    post(job, "/gallery/upload/commit", data, (status, answer) => {
      if (isAway(status)) return later(commit);
      localStorage.removeItem(key);
      if (status === 200) refresh();
      leave(job, status === 200 ? "done" : answer);
    });
  };
  send();
}

if (form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    for (const file of form.elements.file.files) add(file);
    form.elements.file.value = "";
  });
  const marks = (event, isOver) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    document.body.classList.toggle("dragging", isOver);
  };
  addEventListener("dragover", (event) => marks(event, true));
  addEventListener("dragleave", (event) => marks(event, false));
  addEventListener("drop", (event) => {
    marks(event, false);
    for (const file of event.dataTransfer?.files ?? []) add(file);
  });
}
