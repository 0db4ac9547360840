import { Painter } from "./painter.js";
import { Shape } from "./shape.js";
import { clamp, direction, pixel, radians } from "./view.js";

/** A picture around its viewer. `onReady` is told of frames, `onFailure` that none will come. */
export class Surrounding {
  constructor(figure, kind, label, onReady, onFailure) {
    const canvas = this.element = document.createElement("canvas");
    this.shape = new Shape(figure, kind);
    this.painter = new Painter(canvas, this.shape);
    this.compass = document.createElement("span");
    this.compass.className = "viewer-compass";
    this.view = this.shape.start;
    this.base = figure.dataset.base;
    this.tiles = this.painter.tiles;
    if (this.tiles) Object.assign(this.tiles, { base: this.base, onChange: () => this.look({}) });
    this.fingers = new Map();
    Object.assign(this, { onReady, onFailure, asked: 0, size: 0, frame: 0 });
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", label);
    canvas.setAttribute("aria-description", "Arrows turn, plus and minus zoom, Home resets, F fills the screen.");
    this.motion = matchMedia("(prefers-reduced-motion: reduce)");
    const listeners = {
      pointerdown: this.press, pointermove: this.drag, pointerup: this.release, pointercancel: this.release,
      click: this.pick, wheel: this.scroll, webglcontextlost: () => this.onFailure(),
      // For other scripts, as is the event `drawn`.
      look: event => this.look(event.detail)
    };
    for (const name in listeners) canvas.addEventListener(name, listeners[name].bind(this), { passive: false });
    figure.firstElementChild.after(canvas, this.compass);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
  }

  remove() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
    this.onReady = this.onFailure = this.look = () => {};
    this.element.remove();
    this.compass.remove();
  }

  resize() {
    const canvas = this.element, scale = Math.min(devicePixelRatio, 2);
    canvas.width = canvas.clientWidth * scale || 1;
    canvas.height = canvas.clientHeight * scale || 1;
    this.look({});
    this.draw(performance.now());
  }

  /** Goes to a view; what is not said stays. */
  look(view) {
    const { width, height } = this.element;
    this.view = this.shape.limited({ ...this.view, ...view }, width, height);
    this.fetch(this.shape.across / pixel(this.view, width, height));
    this.tiles?.seek(this.view, width, height);
    this.frame ||= requestAnimationFrame(now => this.draw(now));
  }

  turn(right, up, speed) {
    this.speed = speed;
    this.look({ yaw: this.view.yaw + right, pitch: this.view.pitch + up });
  }

  zoom(factor) { this.look({ fov: this.view.fov / factor }); }

  reset() {
    this.speed = null;
    this.look({ ...this.shape.start, isPlanet: false });
  }

  get isPlanet() { return !!this.view.isPlanet; }

  /** Bends the picture into a little planet, or back. */
  bend() {
    if (this.isPlanet) this.reset();
    else this.look(this.shape.planet(this.element.width, this.element.height));
  }

  /** Turns on its own until something stops it. */
  spin(isOn) {
    if (isOn === !!this.spinning) return;
    this.spinning = isOn && { speed: 4, since: performance.now() };
    this.onSpin?.(isOn);
    this.look({});
  }

  /** Fetches the small picture and then, if the view has use for so many pixels, the large one. */
  async fetch(pixels) {
    const next = this.size && Math.min(this.painter.largest, this.shape.pixels, pixels) > 2048 ? 4096 : 2048;
    if (this.asked >= next) return;
    this.asked = next;
    try {
      const answer = await fetch(`${this.base}${next}.jpg`);
      // The server has turned it upright.
      const bitmap = await createImageBitmap(await answer.blob(), { imageOrientation: "none" });
      this.painter.take(bitmap);
      this.size = next;
      this.look({});
    } catch {
      this.size || this.onFailure();
    }
  }

  draw(now) {
    this.frame = 0;
    if (!this.size) return;
    if (this.speed && !this.fingers.size) this.glide(now);
    if (this.spinning) this.advance(now);
    this.painter.draw(this.view);
    if (this.shape.heading !== undefined) {
      const bearing = (Math.round(this.shape.heading + this.view.yaw) % 360 + 360) % 360;
      this.compass.textContent = `${"N NE E SE S SW W NW N".split(" ")[Math.round(bearing / 45)]} ${bearing}°`;
    }
    this.onReady();
    const missing = this.tiles?.missing.length ?? 0;
    this.element.dispatchEvent(new CustomEvent("drawn", {
      bubbles: true, detail: { ...this.view, size: this.size, missing } }));
  }

  /** Turns by what time has passed; where the picture ends, it turns back. */
  advance(now) {
    const { spinning } = this, before = this.view.yaw, step = spinning.speed * clamp(now - spinning.since, 0, 100) / 1000;
    spinning.since = now;
    this.look({ yaw: before + step });
    if (step && Math.abs(this.view.yaw - before) < Math.abs(step) / 2) spinning.speed *= -1;
  }

  /** Tells the figure which direction was clicked, unless that ended a drag. */
  pick(event) {
    if (this.moved > 6 || !event.detail) return;
    const { clientWidth, clientHeight } = this.element, size = pixel(this.view, clientWidth, clientHeight);
    const { azimuth, elevation } = direction(
      this.view, (event.offsetX - clientWidth / 2) * size, (clientHeight / 2 - event.offsetY) * size);
    const detail = { yaw: azimuth / radians, pitch: elevation / radians };
    this.element.dispatchEvent(new CustomEvent("picked", { bubbles: true, detail }));
  }

  press(event) {
    this.speed = null;
    this.moved = 0;
    this.spin(false);
    this.element.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, event);
  }

  /** The middle of the pointers, and their distance. */
  grip() {
    const all = [...this.fingers.values()], one = all[0], other = all[1] ?? one;
    const spread = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    return [(one.clientX + other.clientX) / 2, (one.clientY + other.clientY) / 2, spread];
  }

  drag(event) {
    const last = this.fingers.get(event.pointerId);
    if (!last) return;
    const [x, y, spread] = this.grip();
    this.fingers.set(event.pointerId, event);
    const [newX, newY, newSpread] = this.grip();
    if (spread && newSpread) this.zoom(newSpread / spread);
    // What is under a pointer stays under it.
    const { clientWidth, clientHeight } = this.element;
    const size = pixel(this.view, clientWidth, clientHeight) / radians;
    this.moved += Math.hypot(x - newX, y - newY);
    const right = (x - newX) * size / Math.max(0.3, Math.cos(this.view.pitch * radians)), up = (newY - y) * size;
    const time = Math.max(1, event.timeStamp - last.timeStamp);
    this.turn(right, up, !spread && [right / time, up / time]);
    this.last = event.timeStamp;
  }

  release(event) {
    this.fingers.delete(event.pointerId);
    // Who rests first, or wants no motion, wants no swing.
    if (event.timeStamp - this.last > 50 || this.motion.matches) this.speed = null;
    if (this.speed) this.look({});
  }

  /** Turns on after a swing until it rests. */
  glide(now) {
    const time = clamp(now - this.last, 0, 50), speed = this.speed.map(one => one * Math.exp(-time / 200));
    this.last = now;
    this.turn(speed[0] * time, speed[1] * time, Math.hypot(...speed) > 0.002 && speed);
  }

  scroll(event) {
    const before = this.view.fov;
    this.spin(false);
    this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.03 : 0.001)));
    // At the end of the zoom the page scrolls on.
    if (this.view.fov !== before) event.preventDefault();
  }
}
