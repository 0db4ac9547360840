// Makes each <figure class="viewer"> something to look around in: spheres and cylinders by WebGL, strips and photos, and
// all without WebGL, by panning the <img>.

import { Flat } from "./flat.js";
import { copy, element, icon, toast } from "./page.js";
import { follow, isHeld } from "./sensor.js";
import { Spots } from "./spots.js";
import { Surrounding } from "./surrounding.js";

const figures = document.querySelectorAll("figure.viewer");
const motion = matchMedia("(prefers-reduced-motion: reduce)");

/** The view in the address, as in `#view=90,-5,60`; null when there is none. */
function linkedView() {
  const numbers = /^#view=([-\d.,]+)$/.exec(location.hash)?.[1].split(",").map(Number) ?? [];
  if (numbers.length < 2 || !numbers.every(isFinite)) return null;
  const [yaw, pitch, fov] = numbers;
  return { yaw, pitch, ...fov ? { fov } : {} };
}

/** A figure, its buttons and its keys. */
export class Viewer {
  constructor(figure, link, image) {
    const { kind, mayBeSphere } = figure.dataset;
    Object.assign(this, { figure, image, isFull: false });
    this.flat = this.shown = new Flat(link, image);
    this.isAlone = figures.length === 1;
    this.tools = element("div", { className: "viewer-tools", role: "toolbar" });
    this.tools.setAttribute("aria-label", "View");
    this.buttons = {};
    const add = (key, name, text, hint = key) => {
      const button = this.buttons[key] = element("button", { type: "button", value: key, title: `${text} (${hint})` }, icon(name));
      button.setAttribute("aria-label", text);
      this.tools.append(button);
    };
    add("-", "zoom-out", "Zoom out");
    add("+", "zoom-in", "Zoom in");
    add("Home", "reset", "Reset the view");
    add("r", "rotate", "Turn by itself");
    add("p", "planet", "Little planet");
    add("o", "phone", "Look around by turning the device");
    if (mayBeSphere !== undefined) add("s", "sphere", "View as sphere");
    add("l", "link", "Copy a link to this view");
    add("f", "full", "Full screen");
    this.tools.addEventListener("click", event => this.act(event.target.closest("button")?.value));
    link.after(this.tools);
    figure.addEventListener("keydown", event => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("figcaption, input, textarea")) return;
      if (event.target.closest("button") && [" ", "Enter"].includes(event.key)) return;
      if (!this.act(event.key, event.shiftKey ? 15 : 5)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    // Keys that are pressed elsewhere on the page.
    figure.addEventListener("act", event => {
      if (this.act(event.detail.key, event.detail.shiftKey ? 15 : 5)) event.preventDefault();
    });
    document.addEventListener("fullscreenchange", () => this.setFull(document.fullscreenElement === figure));
    if (this.isAlone) addEventListener("hashchange", () => this.around?.look(linkedView() ?? {}));
    this.fade();
    if (["sphere", "partialSphere", "cylinder"].includes(kind)) this.bend(kind);
    if (!this.around) this.flat.reset();
    this.offer();
  }

  /** Shows the buttons that have a use for what is shown. */
  offer() {
    // From the start, though the first frame is yet to come: the row of buttons would move.
    const { buttons, around } = this, isAround = !!around;
    buttons.r.hidden = !isAround || motion.matches;
    buttons.p.hidden = !isAround || !around.shape.isRound || around.shape.isCylinder;
    buttons.o.hidden = !isAround || !isHeld();
    buttons.l.hidden = !isAround || !this.isAlone;
    for (const [key, isOn] of [["r", around?.spinning], ["p", around?.isPlanet], ["o", this.held], ["s", isAround]]) {
      buttons[key]?.setAttribute("aria-pressed", !!isOn);
    }
  }

  /** Does what a key, or the button for it, stands for; false where it stands for nothing. */
  act(key = "", step = 5) {
    const { shown, around } = this, isAround = !!around && shown === around;
    const stop = () => isAround && around.spin(false);
    const actions = {
      arrowleft: () => shown.turn(-step, 0), arrowright: () => shown.turn(step, 0),
      arrowup: () => shown.turn(0, step), arrowdown: () => shown.turn(0, -step),
      "+": () => shown.zoom(1.25), "=": () => shown.zoom(1.25), "-": () => shown.zoom(0.8), _: () => shown.zoom(0.8),
      home: () => shown.reset(), f: () => this.fill(), escape: () => this.isFull && this.fill(),
      s: () => !!this.buttons.s && (isAround ? this.lay() : this.bend("sphere")),
      r: () => isAround && !motion.matches && around.spin(!around.spinning),
      p: () => isAround && !this.buttons.p.hidden && around.bend(),
      o: () => isAround && isHeld() && this.hold(),
      l: () => isAround && this.isAlone && this.link()
    };
    const name = key.toLowerCase(), action = Object.hasOwn(actions, name) && actions[name];
    if (!action) return false;
    if (name !== "r") stop();
    const isDone = action() !== false;
    this.offer();
    return isDone;
  }

  bend(kind) {
    try {
      const around = this.around = new Surrounding(
        this.figure, kind, this.image.alt, () => this.show(around), () => this.lay());
      around.onSpin = () => this.offer();
      const list = this.figure.querySelector(".viewer-spots");
      if (list) new Spots(list, around);
      const view = this.isAlone && linkedView();
      if (view) around.view = { ...around.view, ...view };
    } catch {
      // The picture stays.
    }
  }

  /** Back to the picture as the page brought it. */
  lay() {
    this.held?.();
    this.held = null;
    this.show(this.flat);
    this.around.remove();
    this.around = null;
    this.flat.reset();
    this.offer();
  }

  show(shown) {
    if (shown === this.shown) return;
    const hadFocus = this.shown.element === document.activeElement;
    this.shown = shown;
    this.figure.classList.toggle("live", shown !== this.flat);
    this.offer();
    if (hadFocus) shown.element.focus();
  }

  /** Follows how the device is held, or no longer. */
  async hold() {
    if (this.held) {
      this.held();
      this.held = null;
    } else {
      this.held = await follow(this.around);
      if (!this.held) toast("This device does not say how it is held.");
    }
    this.offer();
  }

  /** Copies the address of exactly this view. */
  link() {
    const { yaw, pitch, fov } = this.around.view;
    const hash = `#view=${[yaw, pitch, fov].map(angle => +angle.toFixed(1)).join(",")}`;
    history.replaceState(history.state, "", hash);
    copy(location.href);
  }

  /** Hides the buttons while nobody does anything, unless keys are used on them or motion is not wanted. */
  fade() {
    let timer;
    const wake = () => {
      this.figure.classList.remove("idle");
      clearTimeout(timer);
      if (motion.matches) return;
      timer = setTimeout(() => {
        const { figure } = this;
        figure.classList.toggle("idle", !this.tools.matches(":hover") && !this.tools.querySelector(":focus-visible"));
      }, 3500);
    };
    for (const name of ["pointermove", "pointerdown", "keydown", "focusin", "wheel"]) {
      this.figure.addEventListener(name, wake, { passive: true });
    }
    wake();
  }

  /** Fills the screen or, where a page may not, the window, and gives both back. */
  fill() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (this.isFull) this.setFull(false);
    else (this.figure.requestFullscreen?.() ?? Promise.reject()).catch(() => this.setFull(true));
  }

  setFull(isFull) {
    if (isFull === this.isFull) return;
    if (isFull) this.opener = document.activeElement;
    this.isFull = isFull;
    this.figure.classList.toggle("full", isFull);
    this.buttons.f.setAttribute("aria-pressed", isFull);
    if (!this.around) this.flat.reset();
    (isFull ? this.shown.element : this.opener).focus();
  }
}

for (const figure of figures) {
  const image = figure.querySelector("a > img");
  if (image) new Viewer(figure, image.parentElement, image);
}
