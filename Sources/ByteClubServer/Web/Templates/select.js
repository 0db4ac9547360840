// Choosing photos in the timeline: to download them, share them as a story, move them to an album, or delete them.

import { api, element, icon, toast } from "./page.js";

const photos = (count) => count === 1 ? "1 photo" : `${count} photos`;
const pathOf = (item) => item.url.slice("/gallery".length);
const nameOf = (item) => decodeURIComponent(item.url.split("/").at(-1));

export class Selection {
  constructor(timeline) {
    this.timeline = timeline;
    this.chosen = new Map();
    this.mayChange = document.querySelector(".bar .add") !== null;
    this.count = element("span", { className: "count", role: "status" });
    const button = (name, words, run, className = "quiet") => {
      const made = element("button", { type: "button", className, title: words, onclick: run }, icon(name), element("span", {}, words));
      made.setAttribute("aria-label", words);
      return made;
    };
    this.bar = element("div", { className: "selection", hidden: true },
      button("close", "Clear the selection", () => this.clear(), "icon-button"), this.count,
      button("download", "Download", () => this.download()),
      ...this.mayChange ? [button("share", "Share as a story…", () => this.askStory()), button("move", "Move to album", () => this.askAlbum()),
        button("trash", "Delete", () => this.delete(), "quiet danger")] : []);
    this.bar.setAttribute("role", "toolbar");
    this.bar.setAttribute("aria-label", "Selection");
    document.querySelector("main").prepend(this.bar);
    timeline.filled = (tile, item) => this.mark(tile, item);
    for (const tile of timeline.root.querySelectorAll("a.tile")) {
      const item = timeline.items[tile.dataset.item];
      if (item) this.mark(tile, item);
    }
    timeline.root.addEventListener("click", (event) => {
      const tile = event.target.closest("a.tile:not(.line)");
      if (!tile || event.ctrlKey || event.metaKey) return;
      if (event.target.closest(".check") || this.chosen.size || this.isHeld) this.toggle(event, tile);
      this.isHeld = false;
    });
    timeline.root.addEventListener("pointerdown", (event) => {
      const tile = event.target.closest("a.tile:not(.line)");
      if (!tile || event.pointerType !== "touch") return;
      this.hold = setTimeout(() => { this.isHeld = true; this.toggle(null, tile); this.isTouched = true; }, 500);
    });
    for (const end of ["pointerup", "pointercancel", "pointermove"]) {
      timeline.root.addEventListener(end, () => clearTimeout(this.hold));
    }
    // A long touch is ours.
    timeline.root.addEventListener("contextmenu", (event) => { if (this.isHeld) event.preventDefault(); });
    addEventListener("keydown", (event) => {
      const tile = event.target.closest?.("a.tile:not(.line)");
      if (event.key === "Escape" && this.chosen.size && !document.querySelector("dialog[open]")) this.clear();
      else if (tile && (event.key === "x" || event.key === " ") && !event.ctrlKey && !event.metaKey) this.toggle(event, tile);
    });
  }

  /** Adds the circle to a tile, and shows whether it is chosen. */
  mark(tile, item) {
    if (!item.hash) return;
    if (!tile.querySelector(".check")) tile.append(element("span", { className: "check", title: "Select (x)" }, icon("check")));
    tile.classList.toggle("chosen", this.chosen.has(item.url));
  }

  /** Chooses a photo or not; with the shift key all from the last one to it. */
  toggle(event, tile) {
    event?.preventDefault();
    if (!event) this.isTouched = false; else if (this.isTouched) { this.isTouched = false; return; }
    const at = +tile.dataset.item, items = this.timeline.items, item = items[at];
    if (!item) return;
    const from = event?.shiftKey && this.last !== undefined ? this.last : at, isChosen = !this.chosen.has(item.url);
    for (let index = Math.min(from, at); index <= Math.max(from, at); index++) {
      if (!items[index]?.hash) continue;
      if (isChosen) this.chosen.set(items[index].url, items[index]); else this.chosen.delete(items[index].url);
    }
    this.last = at;
    this.show();
  }

  clear() {
    this.chosen.clear();
    this.last = undefined;
    this.show();
  }

  show() {
    const hadFocus = this.bar.contains(document.activeElement);
    this.bar.hidden = this.chosen.size === 0;
    this.timeline.root.classList.toggle("choosing", this.chosen.size > 0);
    this.count.textContent = `${this.chosen.size} selected`;
    for (const tile of this.timeline.root.querySelectorAll("a.tile:not(.line)")) {
      tile.classList.toggle("chosen", this.chosen.has(tile.getAttribute("href")));
    }
    if (hadFocus && this.bar.hidden) this.timeline.root.querySelector("a.tile")?.focus({ preventScroll: true });
  }

  async download() {
    for (const item of [...this.chosen.values()]) {
      const link = element("a", { href: `/photos/${item.hash}/original.jpg`, download: nameOf(item) });
      link.click();
      await new Promise((done) => setTimeout(done, 400));
    }
    this.clear();
  }

  /** Does the same to all that are chosen, one after the other; tells how many it was done to. */
  async each(items, action, fields) {
    const done = [];
    let problem;
    for (const item of items) {
      try {
        await api(`/photo/${action}${pathOf(item)}`, fields);
        done.push(item);
      } catch (error) {
        // Another member may have deleted it; the rest goes on.
        problem = error;
      }
    }
    this.problem = problem ? `; ${photos(items.length - done.length)} left: ${problem.message}` : "";
    if (problem && !done.length) toast(problem.message);
    return done;
  }

  async delete() {
    const items = [...this.chosen.values()];
    this.clear();
    const done = await this.each(items, "delete");
    if (!done.length) return;
    toast(`Deleted ${photos(done.length)}${this.problem}`, { action: "Undo", run: () => this.each(done, "restore") });
  }

  askAlbum() {
    this.ask(`Move ${photos(this.chosen.size)}`, "", "Album", "Move", async folder => {
      const items = [...this.chosen.values()];
      this.clear();
      const done = await this.each(items, "move", { folder });
      if (done.length) toast(`Moved ${photos(done.length)} to ${folder}${this.problem}`);
    });
  }

  /** Makes a note that shows the chosen photos, the oldest first, and opens it to be shared. */
  askStory() {
    const about = "A story is a note that shows them in order, with room for text between. Its link opens these photos and nothing else.";
    this.ask(`Share ${photos(this.chosen.size)} as a story`, about, "Title", "Make the story", async title => {
      const known = this.timeline.items.filter(item => this.chosen.has(item?.url)).reverse();
      const items = known.length === this.chosen.size ? known : [...this.chosen.values()];
      const paths = items.map(item => pathOf(item).split("/").map(decodeURIComponent).join("/"));
      try {
        location.assign((await api("/notes/story", { title, photos: paths.join("\n") })).location);
      } catch (error) {
        toast(error.message);
      }
    });
  }

  /** Asks for a text, and runs `run` with it. */
  ask(title, about, label, action, run) {
    const field = element("input", { required: true, maxLength: 200, autocomplete: "off" });
    const form = element("form", { method: "dialog" }, element("h2", { id: "asked" }, title), about && element("p", {}, about),
      element("label", {}, label + " ", field),
      element("button", { className: "primary", value: "yes" }, action), " ",
      element("button", { className: "quiet", value: "", formNoValidate: true }, "Cancel"));
    const dialog = element("dialog", { className: "move" }, form);
    dialog.setAttribute("aria-labelledby", "asked");
    document.body.append(dialog);
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (dialog.returnValue === "yes") run(field.value);
    });
    dialog.showModal();
  }
}
