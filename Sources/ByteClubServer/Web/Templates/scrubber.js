// A slider beside the timeline: years and months where they are in the whole of it.

import { dayName } from "./timeline.js";

const monthOf = (day) => new Date(day * 864e5).toISOString().slice(0, 7);

export class Scrubber {
  constructor(timeline, element) {
    Object.assign(this, { timeline, element, months: [], at: 0 });
    this.thumb = element.querySelector(".thumb");
    this.years = element.querySelector(".years");
    addEventListener("scroll", () => this.follow(true), { passive: true });
    addEventListener("resize", () => this.update());
    element.addEventListener("keydown", (event) => this.key(event));
    const drag = (event) => {
      const box = element.getBoundingClientRect();
      const part = Math.min(1, Math.max(0, (event.clientY - box.top) / box.height));
      scrollTo({ top: part * this.range, behavior: "instant" });
    };
    element.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      element.setPointerCapture(event.pointerId);
      element.classList.add("held");
      element.focus({ preventScroll: true });
      drag(event);
    });
    element.addEventListener("pointermove", (event) => {
      if (element.hasPointerCapture(event.pointerId)) drag(event);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      element.addEventListener(end, () => element.classList.remove("held"));
    }
  }

  /** How far the page scrolls. */
  get range() { return Math.max(1, document.documentElement.scrollHeight - innerHeight); }

  /** Finds the months anew after a change of the layout. */
  update() {
    const { layout } = this.timeline;
    this.months = [];
    for (const shelf of layout?.shelves ?? []) {
      for (const block of shelf.blocks) {
        const month = monthOf(block.day);
        if (this.months.at(-1)?.month !== month) this.months.push({ month, day: block.day, top: shelf.top });
      }
    }
    this.element.hidden = this.months.length < 2 || layout.height < 2 * innerHeight;
    this.element.setAttribute("aria-valuemax", Math.max(0, this.months.length - 1));
    this.years.replaceChildren();
    const height = this.height = this.element.clientHeight, { range } = this;
    const mark = (name, text, y) => {
      const made = document.createElement(name);
      made.textContent = text;
      made.style.top = y + "px";
      this.years.append(made);
    };
    // Years where there is room for them, then a dot for each month between them.
    const places = this.months.map(({ month, top }) => ({ year: month.slice(0, 4), y: Math.min(1, top / range) * height }));
    const years = [];
    for (const { year, y } of places) {
      if (years.at(-1)?.year === year || y - (years.at(-1)?.y ?? -99) < 22 || y > height - 8) continue;
      years.push({ year, y });
      mark("span", year, y);
    }
    let last = -99;
    for (const { y } of places) {
      if (y - last < 7 || y > height - 8 || years.some((year) => Math.abs(year.y - y) < 12)) continue;
      mark("i", "", y);
      last = y;
    }
    this.follow();
  }

  /** Shows where the window is. */
  follow(isMoving) {
    if (this.element.hidden || !this.months.length) return;
    const y = scrollY - this.timeline.top + this.timeline.bar + 1;
    let at = 0;
    while (at + 1 < this.months.length && this.months[at + 1].top <= y) at++;
    this.at = at;
    const name = dayName(this.months[at].day, true);
    // A place of the layout that changed would count as a shift of it.
    this.thumb.style.translate = `0 ${Math.min(1, scrollY / this.range) * this.height}px`;
    if (this.thumb.firstChild.textContent !== name) this.thumb.firstChild.textContent = name;
    this.element.setAttribute("aria-valuenow", at);
    this.element.setAttribute("aria-valuetext", name);
    if (!isMoving) return;
    this.element.classList.add("moving");
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.element.classList.remove("moving"), 1200);
  }

  key(event) {
    const year = this.months[this.at]?.month.slice(0, 4);
    const olderYear = this.months.findIndex((month, index) => index > this.at && month.month.slice(0, 4) < year);
    const newerYear = this.months.findIndex((month) => month.month.slice(0, 4) <= +year + 1 + "");
    const target = {
      ArrowDown: this.at + 1, ArrowRight: this.at + 1, ArrowUp: this.at - 1, ArrowLeft: this.at - 1, Home: 0,
      End: this.months.length - 1, PageDown: olderYear < 0 ? this.months.length - 1 : olderYear,
      PageUp: Math.max(0, newerYear),
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const month = this.months[Math.min(this.months.length - 1, Math.max(0, target))];
    scrollTo({ top: month.top + this.timeline.top - this.timeline.bar + 2, behavior: "instant" });
  }
}
