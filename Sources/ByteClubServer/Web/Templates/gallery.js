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
  const job = { file, text, bar, cancel, line, request: null };
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
  const data = new FormData();
  data.append("csrf", form.elements.csrf.value);
  data.append("file", job.file);
  const request = job.request = new XMLHttpRequest();
  request.open("POST", form.getAttribute("action"));
  request.setRequestHeader("Accept", "text/plain");
  request.upload.onprogress = (event) => {
    if (!event.lengthComputable) return;
    job.bar.value = event.loaded / event.total;
    job.text.textContent = event.loaded < event.total ? Math.floor(100 * job.bar.value) + " %" : "being stored";
  };
  request.onload = () => {
    if (request.status === 200) { end(job, "done"); refresh(); } else { end(job, request.responseText.slice(0, 300)); }
  };
  request.onabort = () => end(job, "cancelled");
  request.onerror = () => end(job, "not sent: the server is not there, or took no more of it");
  request.onloadend = () => { isSending = false; next(); };
  request.send(data);
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
