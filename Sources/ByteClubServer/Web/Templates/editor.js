// Writing notes: marks by buttons and keys, a preview, drafts, and tasks that are ticked without a new page.
import { api, element, icon, toast } from "./page.js";
import { Draft, isOffered } from "./drafts.js";
import { beat, leave, watch } from "./presence.js";
import "./time.js";

const form = document.querySelector("form.editor"), tasks = document.querySelector("#tasks");
if (form) start(form);
else watch(changed);

/** Says that what the page shows is old. */
function changed({ rev, author }) {
  if (rev && rev === tasks?.elements.rev.value) return;
  document.querySelector(".presence + .news")?.remove();
  const words = rev ? [element("bdi", { textContent: author }), " has changed this note. "] : ["This note was deleted or moved. "];
  document.querySelector(".presence").after(element("p", { className: "notice news", role: "status" }, ...words,
    rev ? element("a", { href: location.pathname, textContent: "Show it" }) : ""));
}

function start(form) {
  const area = form.elements.text, parent = form.elements.parent_rev, base = parent.value, status = form.querySelector("[role=status]");
  const name = form.elements.name, path = form.dataset.path, details = form.closest("details");
  let shown = area.value;
  // A new note has no path yet, and one place for its draft.
  const draft = new Draft(name ? "new" : path);
  const hasProblem = document.querySelector(".problem, .note-page > .notice") !== null;
  let isSaving = false, timer;
  const isChanged = () => area.value !== shown || (name && name.value !== name.defaultValue);

  // What was sent as a new note is the note of this page.
  const added = name ? null : new Draft("new").kept;
  if (added?.sent && (added.text === shown || !added.text.trim())) new Draft("new").drop();

  draft.load().then(kept => {
    if (isChanged()) return;
    if (isOffered(kept, { text: shown, base, hasProblem })) offer(kept);
    else if (kept && !hasProblem) draft.drop();
  });

  function offer(kept) {
    const at = new Date(kept.at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    const bar = element("div", { className: "notice draft" }, element("span", { textContent: `You have not saved what you wrote here on ${at}.` }));
    bar.append(
      element("button", { type: "button", className: "primary", textContent: "Restore the draft", onclick() {
        // It goes on from the version that it was written on, so that the server merges what others have saved since.
        open();
        area.value = kept.text;
        if (kept.base && kept.base !== parent.value) [parent.value, origin] = [kept.base, null];
        if (name && kept.name) name.value = kept.name;
        bar.remove();
        area.focus();
        keep();
      } }),
      element("button", { type: "button", className: "quiet", textContent: "Discard", onclick() { draft.drop(); bar.remove(); } }));
    (document.querySelector(".note-actions") ?? form).before(bar);
  }

  function open() {
    if (details) details.open = true;
  }

  // What others save is merged with what is written here. The text of the version that this one goes on from:
  let origin = hasProblem ? document.querySelector(".theirs")?.textContent ?? null : shown, isComposing = false;
  area.addEventListener("compositionstart", () => { isComposing = true; });
  area.addEventListener("compositionend", () => { isComposing = false; });
  if (!name) watch(take, () => details?.open ?? true);

  /** Takes a newer version, or says false for later. */
  async function take(news) {
    const isHere = details?.open ?? true;
    if (!isHere || !news.rev) changed(news);
    if (!news.rev) return;
    const { merge, edits } = await import("./merge.js");
    if (isComposing) return false;
    const text = news.text?.replace(/\r\n?/g, "\n"), merged = text === undefined || origin === null ? null : merge(origin, area.value, text);
    if (merged === null) {
      if (isHere) tell(` has changed ${origin === null ? "this note; both are merged" : "the same lines; you see both"} when you save`, news.author);
      return;
    }
    change(edits(area.value, merged));
    [shown, origin, parent.value] = [text, text, news.rev];
    if (isChanged()) draft.keep({ text: area.value, base: news.rev });
    if (isHere) tell(" changed this note; merged", news.author);
  }

  /** Replaces parts of the text; what is around the caret stays where it is seen. */
  function change(parts) {
    let { selectionStart: from, selectionEnd: to } = area, grown = 0;
    for (const [start, end, text] of parts) {
      const before = area.scrollHeight, move = at => at < end ? Math.min(at, start + text.length) : at + text.length - end + start;
      area.setRangeText(text, start, end);
      if (start < from) grown += area.scrollHeight - before;
      if (start <= from) from = move(from);
      if (start <= to) to = move(to);
    }
    if (document.activeElement !== area) return;
    area.setSelectionRange(from, to, area.selectionDirection);
    if (area.scrollHeight > area.clientHeight + 1) area.scrollTop += grown;
    else scrollBy({ top: grown, behavior: "instant" });
  }

  function tell(words, author) {
    clearTimeout(timer);
    status.replaceChildren(...author ? [element("bdi", { textContent: author })] : [], words);
    timer = setTimeout(() => { status.textContent = ""; }, 10000);
  }

  function keep() {
    const isKept = draft.keep({ text: area.value, base: parent.value, name: name?.value });
    status.textContent = isKept ? "Draft kept in this browser" : "";
    clearTimeout(timer);
    timer = setTimeout(() => { status.textContent = ""; }, 2000);
  }

  form.addEventListener("input", () => { keep(); });
  form.addEventListener("submit", event => {
    if (event.submitter?.formAction?.endsWith("/notes/preview")) return;
    isSaving = true;
    draft.keep({ text: area.value, base: parent.value, name: name?.value, sent: true });
  });
  addEventListener("pageshow", () => { isSaving = false; });
  addEventListener("beforeunload", event => { if (isChanged() && !isSaving) event.preventDefault(); });
  form.querySelector(".actions a").addEventListener("click", () => {
    if (!isChanged()) return;
    // Whoever cancels gives the text up; it is offered once more on the next page.
    isSaving = true;
  });

  // Marks

  function replace(start, end, text, from, to) {
    area.focus();
    area.setSelectionRange(start, end);
    // This way the browser can undo it.
    if (!document.execCommand("insertText", false, text)) area.setRangeText(text, start, end, "end");
    area.setSelectionRange(from, to);
    keep();
  }

  function wrap(mark, words) {
    const { selectionStart: start, selectionEnd: end, value } = area, chosen = value.slice(start, end);
    const around = mark.length;
    if (chosen && value.slice(start - around, start) === mark && value.slice(end, end + around) === mark) {
      return replace(start - around, end + around, chosen, start - around, end - around);
    }
    const text = chosen || words;
    replace(start, end, mark + text + mark, start + around, start + around + text.length);
  }

  function lines(mark) {
    const { value } = area, start = value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    let end = value.indexOf("\n", area.selectionEnd);
    if (end < 0) end = value.length;
    const old = value.slice(start, end).split("\n"), isMarked = old.every(line => line.startsWith(mark));
    const text = old.map(line => isMarked ? line.slice(mark.length) : mark + line.replace(/^(#{1,6} |[-*+] (\[[ xX]\] )?)/, "")).join("\n");
    replace(start, end, text, start + text.length, start + text.length);
  }

  function link() {
    const { selectionStart: start, selectionEnd: end, value } = area, text = value.slice(start, end);
    const isAddress = /^https?:\/\/\S+$/.test(text), words = isAddress ? "" : text || "words";
    const made = isAddress ? `[](${text})` : `[${words}](https://)`;
    replace(start, end, made, isAddress ? start + 1 : start + words.length + 3, isAddress ? start + 1 : start + made.length - 1);
  }

  /** The address of another file of the club in this note. */
  function relative(file) {
    const from = path.split("/").slice(1, -1), to = file.split("/").slice(1);
    let shared = 0;
    while (shared < from.length && from[shared] === to[shared]) shared += 1;
    return [...from.slice(shared).map(() => ".."), ...to.slice(shared).map(encodeURIComponent)].join("/");
  }

  async function photos(files) {
    const body = new FormData();
    body.append("csrf", document.body.dataset.csrf);
    for (const file of files) body.append("file", file);
    status.textContent = `Adding ${files.length === 1 ? files[0].name : files.length + " photos"}…`;
    clearTimeout(timer);
    const answer = await fetch("/gallery/upload", { method: "POST", body, headers: { Accept: "text/plain" } });
    const text = await answer.text();
    status.textContent = "";
    if (!answer.ok) return toast(text || "The photo could not be added");
    const made = text.trim().split("\n").map(file => `![${file.split("/").pop().replace(/\.[^.]*$/, "")}](${relative(file)})`).join("\n");
    const at = area.selectionEnd, before = at && area.value[at - 1] !== "\n" ? "\n\n" : "", whole = `${before}${made}\n`;
    replace(at, at, whole, at + whole.length, at + whole.length);
  }

  const picker = element("input", { type: "file", accept: "image/jpeg,image/png", multiple: true, hidden: true });
  picker.addEventListener("change", () => { if (picker.files.length) photos([...picker.files]); picker.value = ""; });
  const images = list => [...list ?? []].filter(file => /^image\/(jpeg|png)$/.test(file.type));
  area.addEventListener("paste", event => {
    const found = images(event.clipboardData?.files);
    if (found.length) { event.preventDefault(); photos(found); }
  });
  area.addEventListener("drop", event => {
    const found = images(event.dataTransfer?.files);
    if (found.length) { event.preventDefault(); photos(found); }
  });

  const tools = [
    ["Heading", "H", () => lines("## ")], ["Bold (Ctrl+B)", "bold", () => wrap("**", "bold")], ["Italic (Ctrl+I)", "italic", () => wrap("*", "italic")],
    ["List", "list", () => lines("- ")], ["Task", "check", () => lines("- [ ] ")], ["Link (Ctrl+K)", "link", link], ["Photo", "image", () => picker.click()],
  ];
  const bar = element("div", { className: "tools", role: "toolbar" }, picker);
  bar.setAttribute("aria-label", "Marks");
  for (const [label, face, run] of tools) {
    const button = element("button", { type: "button", className: "icon-button", title: label, onclick: run }, face === "H" ? "H" : icon(face));
    button.setAttribute("aria-label", label);
    bar.append(button);
  }
  const pane = element("div", { className: "text", hidden: true });
  const looking = element("button", { type: "button", className: "quiet apart", onclick: look }, icon("eye"), element("span", { textContent: "Preview" }));
  looking.setAttribute("aria-pressed", "false");
  bar.append(looking);
  form.querySelector("[formaction]").hidden = true;
  area.closest("label").before(bar);
  area.closest("label").after(pane);

  async function look() {
    const isOn = pane.hidden;
    if (isOn) {
      try {
        pane.innerHTML = (await api("/notes/preview", { text: area.value, path })).html;
      } catch (error) { return toast(error.message); }
      for (const box of pane.querySelectorAll("button.box")) box.disabled = true;
    }
    pane.hidden = !isOn;
    area.closest("label").hidden = isOn;
    looking.setAttribute("aria-pressed", String(isOn));
    if (!isOn) area.focus();
  }

  form.addEventListener("keydown", event => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    const run = { s: () => form.requestSubmit(form.querySelector(".primary")), b: tools[1][2], i: tools[2][2], k: link }[event.key.toLowerCase()];
    if (!run || (event.key !== "s" && event.target !== area)) return;
    event.preventDefault();
    run();
  });
  // Enter goes on with a list, and ends it in an empty item.
  area.addEventListener("keydown", event => {
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.isComposing || area.selectionStart !== area.selectionEnd) return;
    const at = area.selectionStart, start = area.value.lastIndexOf("\n", at - 1) + 1;
    const found = /^(\s*)([-*+]|(\d{1,8})([.)])) (\[[ xX]\] )?/.exec(area.value.slice(start, at));
    if (!found) return;
    event.preventDefault();
    if (found[0].length === at - start) return replace(start, at, "", start, start);
    const next = `\n${found[1]}${found[3] ? Number(found[3]) + 1 + found[4] : found[2]} ${found[5] ? "[ ] " : ""}`;
    replace(at, at, next, at + next.length, at + next.length);
  });
  details?.addEventListener("toggle", () => {
    if (details.open) area.focus({ preventScroll: true });
    if (details.open) beat(); else leave();
  });
}

// Tasks are ticked where they stand; without this script by a new page.
tasks?.addEventListener("submit", async event => {
  event.preventDefault();
  const box = event.submitter, item = box.closest("li"), isDone = box.getAttribute("aria-checked") !== "true";
  const show = isDone => { box.setAttribute("aria-checked", String(isDone)); item.classList.toggle("done", isDone); };
  show(isDone);
  try {
    const answer = await api("/notes/task", { path: tasks.elements.path.value, rev: tasks.elements.rev.value, line: box.value });
    if (answer.rev) tasks.elements.rev.value = answer.rev;
  } catch (error) {
    show(!isDone);
    toast(error.message, { action: "Reload", run: () => location.reload() });
  }
});
