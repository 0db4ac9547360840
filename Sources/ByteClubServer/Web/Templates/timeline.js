// The timeline: all days have their places from the start, and only what is near the window is in the page.

import { firstBelow, layout } from "./layout.js";
import { icon } from "./page.js";

const sizes = [256, 512, 1024, 2048, 4096];
const make = (name, className) => Object.assign(document.createElement(name), { className });

const names = (options) => new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });
const dayNames = names({ weekday: "short", day: "numeric", month: "short", year: "numeric" });
const monthNames = names({ month: "short", year: "numeric" });

/** A day in words, or its month; `number` counts from 1970. */
export const dayName = (number, isMonth) => (isMonth ? monthNames : dayNames).format(number * 864e5);

/** The colours that are kept with a photo, four by three and two bytes each, as gradients: no element, and no memory. */
function placeholder(colours) {
  const bytes = atob(colours);
  if (bytes.length !== 24) return "";
  const colour = (from, to, alpha = 1) => {
    const sums = [0, 0, 0];
    for (let index = from; index < to; index++) {
      const bits = bytes.charCodeAt(2 * index) << 8 | bytes.charCodeAt(2 * index + 1);
      [bits >> 11, (bits >> 5 & 63) / 2, bits & 31].forEach((part, at) => { sums[at] += part / (to - from) * 255 / 31.5; });
    }
    return `rgb(${sums.map(Math.round).join(" ")} / ${alpha})`;
  };
  return `linear-gradient(${colour(0, 4)}, ${colour(0, 4, 0)} 50%, ${colour(8, 12, 0)} 50%, ${colour(8, 12)}),
    linear-gradient(90deg, ${[4, 5, 6, 7].map((index) => colour(index, index + 1)).join()})`;
}

/** Takes something out of the page with its pictures, which would load on and stay in memory for long. */
function drop(element) {
  for (const image of element.querySelectorAll("img")) for (const name of ["srcset", "src"]) image.removeAttribute(name);
  element.remove();
}

export class Timeline {
  /** How many windows' heights beyond the window are in the page. */
  static margin = 1;

  constructor(root, ask) {
    this.root = root;
    this.ask = ask;
    this.items = [];
    this.chunks = new Map();
    this.drawn = new Map();
    this.tiles = new Map();
    this.last = { y: scrollY, time: 0 };
    this.changed = () => {};
    this.stale = () => {};
    this.filled = () => {};
    addEventListener("scroll", () => this.soon(), { passive: true });
    new ResizeObserver(() => {
      if (this.index && this.root.clientWidth !== this.layout.width) this.place();
    }).observe(root);
  }

  get count() { return this.layout?.count ?? 0; }

  /**
   * Takes an index over; what is at the top of the window stays there.
   *
   * An index that is a part comes with its items, and the whole one follows.
   */
  show(index, items = new Array(index.days.reduce((sum, day) => sum + day.ratios.length, 0))) {
    const old = this.index, anchor = old && this.anchor(), isLater = old?.isPart && old.revision === index.revision;
    this.chunks.clear();
    if (index.isPart || isLater) this.chunks.set(0, true);
    if (isLater) {
      this.items.forEach((item, at) => { items[at] = item; });
    } else if (old && !old.isPart) {
      // Of each day, what is known is taken over from its end: what is new is newer.
      const known = new Map();
      let first = 0;
      for (const day of old.days) known.set(day.number, { end: first += day.ratios.length, count: day.ratios.length });
      first = 0;
      for (const day of index.days) {
        const before = known.get(day.number);
        first += day.ratios.length;
        for (let back = 1; before && back <= Math.min(before.count, day.ratios.length); back++) {
          items[first - back] = this.items[before.end - back];
        }
      }
    }
    this.index = index;
    this.items = items;
    this.place(anchor);
  }

  /** Places everything anew; an anchor stays where it is in the window. */
  place(anchor = this.index && this.layout && this.anchor()) {
    const { shelves = [] } = this.layout ?? {}, same = (number) =>
      JSON.stringify(shelves[number]) === JSON.stringify(this.layout.shelves[number]);
    this.layout = layout(this.index.days, this.root.clientWidth);
    for (const [number, section] of this.drawn) {
      if (same(number)) continue;
      drop(section.element);
      this.drawn.delete(number);
    }
    // With room for a scroll bar from the start, which would change the width.
    this.root.style.height = Math.max(this.layout.height, this.index.isPart ? 2 * innerHeight : 0) + "px";
    this.top = this.root.getBoundingClientRect().top + scrollY;
    if (anchor) {
      this.restore(anchor);
      this.kept = { anchor, y: scrollY };
    }
    this.changed();
    this.draw();
  }

  /** The item at the top of the window, told so that another index has it too; null at the very top. */
  anchor() {
    const y = scrollY - this.top + this.bar;
    if (scrollY < 8) return null;
    // Where nobody has scrolled since the last one, it holds: turning a phone there and back leads to the same row.
    if (this.kept && Math.abs(scrollY - this.kept.y) < 2) return this.kept.anchor;
    const shelf = this.layout.shelves[firstBelow(this.layout.shelves, y)], block = shelf?.blocks[0];
    if (!block) return null;
    const row = block.rows[Math.min(firstBelow(block.rows, y - shelf.top), block.rows.length - 1)];
    if (!row) return null;
    return {
      day: block.day, back: block.first + block.count - row.boxes[0].item, offset: shelf.top + row.top - y,
    };
  }

  /** Scrolls so that an anchor is where it was. */
  restore(anchor) {
    for (const shelf of this.layout.shelves) {
      for (const block of shelf.blocks) {
        if (block.day > anchor.day) continue;
        const item = block.first + Math.max(0, block.count - (block.day === anchor.day ? anchor.back : block.count));
        const row = block.rows.find((row) => row.boxes.some((box) => box.item === item)) ?? block.rows[0];
        scrollTo({ top: this.top + shelf.top + (row?.top ?? 0) - anchor.offset - this.bar, behavior: "instant" });
        return;
      }
    }
  }

  /** Scrolls to a day, or to the next older one. */
  open(day) {
    const shelf = this.layout.shelves.find((shelf) => shelf.blocks.some((block) => block.day <= day));
    if (shelf) scrollTo({ top: this.top + shelf.top - this.bar, behavior: "instant" });
  }

  /** What the site's bar covers at the top. */
  get bar() { return document.querySelector("body > header")?.getBoundingClientRect().height ?? 0; }

  soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  /** Brings what is near the window into the page, and takes the rest out. */
  draw() {
    if (!this.layout) return;
    const height = innerHeight, now = performance.now(), y = scrollY - this.top;
    const isFast = now - this.last.time < 250 && Math.abs(scrollY - this.last.y) > 1.5 * height;
    this.last = { y: scrollY, time: now };
    const [from, to] = [y - Timeline.margin * height, y + (1 + Timeline.margin) * height];
    const { shelves } = this.layout, seen = new Set();
    for (let number = firstBelow(shelves, from); number < shelves.length && shelves[number].top < to; number++) {
      seen.add(number);
      this.drawShelf(number, shelves[number], from, to, isFast);
    }
    for (const [number, shelf] of this.drawn) {
      if (seen.has(number) || shelf.element.contains(document.activeElement)) continue;
      drop(shelf.element);
      this.drawn.delete(number);
    }
    clearTimeout(this.later);
    if (isFast) this.later = setTimeout(() => this.draw(), 80);
    // What somebody comes to next is asked for before it is drawn.
    else for (const place of [y - 3 * height, y + 4 * height]) this.need(shelves[firstBelow(shelves, place)]?.blocks[0].first);
  }

  drawShelf(number, shelf, from, to, isFast) {
    let drawn = this.drawn.get(number);
    if (!drawn) {
      const element = make("section", "shelf");
      element.style.top = shelf.top + "px";
      element.style.height = shelf.height + "px";
      const blocks = shelf.blocks.map((block) => {
        const day = make("div", "day"), heading = make("h2", "");
        day.style.left = block.x + "px";
        day.style.width = block.width + "px";
        heading.textContent = dayName(block.day);
        day.append(heading);
        element.append(day);
        return day;
      });
      drawn = { element, blocks, rows: new Map() };
      this.drawn.set(number, drawn);
      // In the order of the page, for the keyboard.
      const next = [...this.drawn.keys()].filter((key) => key > number).sort((a, b) => a - b)[0];
      this.root.insertBefore(element, next === undefined ? null : this.drawn.get(next).element);
    }
    shelf.blocks.forEach((block, index) => {
      const seen = new Set();
      for (let at = firstBelow(block.rows, from - shelf.top); at < block.rows.length; at++) {
        const row = block.rows[at];
        if (shelf.top + row.top > to) break;
        const key = index + "." + at;
        seen.add(key);
        let tiles = drawn.rows.get(key);
        if (!tiles) drawn.rows.set(key, tiles = row.boxes.map((box) => this.tile(box, row, drawn.blocks[index])));
        if (!isFast) row.boxes.forEach((box, place) => { tiles[place] = this.fill(tiles[place], box, row); });
      }
      for (const [key, tiles] of drawn.rows) {
        if (!key.startsWith(index + ".") || seen.has(key)) continue;
        if (tiles.some((tile) => tile === document.activeElement)) continue;
        for (const tile of tiles) drop(tile);
        drawn.rows.delete(key);
      }
    });
  }

  /** An empty tile at its place. */
  tile(box, row, parent) {
    const tile = make("a", row.isNotes ? "tile line" : "tile");
    tile.style.left = box.x + "px";
    tile.style.top = row.top + "px";
    tile.style.width = box.width + "px";
    tile.style.height = row.height - (row.isNotes ? 4 : 0) + "px";
    // In the order of the items.
    let before = parent.lastElementChild;
    while (+before.dataset.item > box.item) before = before.previousElementSibling;
    tile.dataset.item = box.item;
    before.after(tile);
    return tile;
  }

  /** Puts an item into its tile as soon as it is known. */
  fill(tile, box, row) {
    const item = this.items[box.item];
    this.need(box.item);
    if (!item || tile.dataset.shown === item.key) return tile;
    tile.dataset.shown = item.key;
    tile.href = item.url;
    tile.replaceChildren();
    if (item.title !== undefined) {
      const title = make("bdi", "title"), text = make("span", "words");
      title.textContent = item.title;
      text.textContent = item.text;
      tile.append(icon("notes"), title, text);
      return tile;
    }
    // A picture that the page has begun to load goes on.
    const image = item.image ?? make("img", "");
    const long = Math.max(row.height, row.height * (item.width ?? 1) / (item.height ?? 1)) * devicePixelRatio;
    const wide = item.badge ? 2048 : 1024;
    const size = sizes.find((size) => size >= long * 0.85 || size >= wide);
    image.alt = item.alt;
    image.decoding = "async";
    image.draggable = false;
    const start = performance.now();
    image.addEventListener("load", () => {
      // Only what somebody has waited for is faded in.
      tile.classList.toggle("late", performance.now() - start > 200);
      tile.classList.add("loaded");
    }, { once: true });
    image.addEventListener("error", () => tile.classList.add("broken"), { once: true });
    if (!item.image) image.src = `/photos/${item.hash}/${size}.jpg`;
    delete item.image;
    tile.classList.toggle("loaded", image.complete && image.naturalWidth > 0);
    tile.style.backgroundImage = item.colours ? placeholder(item.colours) : "";
    tile.append(image);
    if (item.badge) {
      const badge = make("span", "badge");
      badge.append(icon("panorama" === item.badge ? "image" : "full"), item.badge);
      tile.append(badge);
    }
    if (item.caption) {
      const caption = make("span", "caption");
      caption.textContent = item.caption;
      caption.setAttribute("aria-hidden", "true");
      tile.append(caption);
    }
    this.filled(tile, item);
    return tile;
  }

  /** An item with a key that tells whether a tile shows it as it is. */
  static keyed(item) {
    item.key = item.url + (item.hash ?? item.title + item.text) + (item.caption ?? "") + (item.colours ?? "");
    return item;
  }

  /** Asks for the items around one that is not there yet. */
  need(item) {
    const chunk = Math.floor(item / this.index.step);
    if (!(item >= 0) || this.chunks.has(chunk)) return;
    this.chunks.set(chunk, true);
    this.load(chunk);
  }

  async load(chunk) {
    const { index } = this, { step, marks } = index;
    try {
      const found = await this.ask("items", { limit: step, ...chunk ? { before: marks[chunk - 1] } : {} });
      if (this.index !== index) return;
      let isOther = false;
      found.items.forEach((item, place) => {
        const at = chunk * step + place;
        if (at >= this.count) { isOther = true; return; }
        this.items[at] = Timeline.keyed(item);
        isOther ||= this.expected(at)[0] !== item.day || this.expected(at)[1] !== item.ratio;
      });
      if (isOther || found.items.length < Math.min(step, this.count - chunk * step)) this.stale();
      this.soon();
    } catch {
      setTimeout(() => { if (this.index === index && this.chunks.delete(chunk)) this.soon(); }, 3000);
    }
  }

  /** The day and the ratio of an item by the index. */
  expected(at) {
    if (this.index.flat === undefined) {
      this.index.flat = [];
      for (const day of this.index.days) for (const ratio of day.ratios) this.index.flat.push([day.number, ratio]);
    }
    return this.index.flat[at];
  }
}
