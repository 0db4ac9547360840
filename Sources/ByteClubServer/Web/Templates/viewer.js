// Makes each <figure class="viewer"> something to look around in: spheres and cylinders by WebGL, strips and photos,
// and all without WebGL, by panning the <img>. Views (yaw, pitch, fov of the longer side) are in degrees, all else in
// radians.

const radians = Math.PI / 180;
const whole = 2 * Math.PI;

/** A value within limits, or their middle. */
const clamp = (value, low, high) => low > high ? (low + high) / 2 : Math.min(Math.max(value, low), high);

/** The size of a pixel in the middle of a view, at distance 1. */
const pixel = (fov, width, height) => 2 * Math.tan(fov * radians / 2) / Math.max(width, height);

/** What part of the sphere a picture covers, as the page says. */
class Shape {
  constructor(figure, kind) {
    const given = (name, other) => isFinite(parseFloat(figure.dataset[name])) ? +figure.dataset[name] : other;
    const isWhole = kind === "sphere";
    const across = isWhole ? 360 : clamp(given("hfov", 360), 1, 360);
    const slope = given("height", 1) / given("width", 2);
    this.isCylinder = kind === "cylinder";
    this.isRound = across > 359.6;
    this.across = this.isRound ? whole : across * radians;
    this.down = isWhole ? Math.PI : clamp(given("vfov", across * slope), 1, 180) * radians;
    this.centre = isWhole ? 0 : given("yaw", 0) * radians;
    // Rows are steps of elevation on a sphere, and of its tangent on a cylinder.
    this.top = (isWhole ? 0 : given("pitch", 0) * radians) + this.down / 2;
    const elevation = row => this.isCylinder ? Math.atan(row) : clamp(row, -Math.PI / 2, Math.PI / 2);
    this.highest = elevation(this.top);
    this.lowest = elevation(this.top - this.down);
    this.heading = given("heading");
    this.pixels = given("width", 4096);
    this.lines = given("height", 2048);
    this.side = given("tiles", 0);
    this.start = { yaw: given("initialYaw", this.centre / radians), pitch: given("initialPitch", 0), fov: 90 };
  }

  /** The nearest view that shows no more than there is. */
  limited({ yaw, pitch, fov }, width, height) {
    const long = Math.max(width, height), tall = this.highest - this.lowest;
    const widest = (angle, side) =>
      angle >= Math.PI ? 120 : 2 * Math.atan(Math.tan(angle / 2) * long / side) / radians;
    // However large it is, its own pixels can be told from each other.
    const least = 2 * Math.atan(long * this.across / this.pixels / 4) / radians;
    fov = Math.min(Math.max(fov, Math.min(10, least)), 120, widest(tall, height), widest(this.across, width));
    const size = pixel(fov, width, height), right = size * width / 2, up = size * height / 2;
    // A pole may be looked at straight.
    const room = pole => Math.PI / 2 - Math.abs(pole) < 0.001 ? 0 : Math.atan(up);
    pitch = clamp(pitch * radians, this.lowest + room(this.lowest), this.highest - room(this.highest));
    yaw *= radians;
    if (this.isRound) {
      yaw -= whole * Math.round(yaw / whole);
    } else {
      // The corners next to a pole reach farthest around it.
      const side = Math.atan2(right, Math.cos(pitch) - up * Math.abs(Math.sin(pitch)));
      yaw = clamp(yaw, this.centre - this.across / 2 + side, this.centre + this.across / 2 - side);
    }
    return { yaw: yaw / radians, pitch: pitch / radians, fov };
  }

  /** Where in the picture, from 0 to 1, a view shows what is so far right and up from its middle, at distance 1. */
  place({ yaw, pitch }, right, up) {
    const sine = Math.sin(pitch * radians), cosine = Math.cos(pitch * radians);
    const above = up * cosine + sine, ahead = cosine - up * sine, level = Math.hypot(right, ahead);
    const row = this.isCylinder ? above / level : Math.atan2(above, level);
    const turn = (Math.atan2(right, ahead) + yaw * radians - this.centre + this.across / 2) / whole;
    return [(turn - Math.floor(turn)) * whole / this.across, (this.top - row) / this.down];
  }
}

const vertexShader = `#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0, 1); }`;

// `view`: the canvas's reach right and up, sine and cosine of the pitch. `crop`: the picture's left edge from the
// view's azimuth, top, width and height. Tiles are mixed by hand, since a pixel's neighbours may be in other ones:
// `layers` has their number in `tiles`, from 1, and `full` is the size of the whole, 0 when none are there.
const fragmentShader = ({ isCylinder, isRound, side }) => `#version 300 es
precision highp float;
precision highp int;
uniform sampler2D picture;
uniform float size;
uniform vec4 view, crop;
out vec4 colour;
${!side ? "" : `uniform highp usampler2D layers;
uniform highp sampler2DArray tiles;
uniform ivec2 full;
vec4 at(ivec2 spot) {
  spot.x = ${isRound ? "(spot.x + full.x) % full.x" : "clamp(spot.x, 0, full.x - 1)"};
  spot.y = clamp(spot.y, 0, full.y - 1);
  int layer = int(texelFetch(layers, spot / ${side}, 0).r);
  return layer > 0 ? texelFetch(tiles, ivec3(spot % ${side}, layer - 1), 0) : vec4(0);
}`}
void main() {
  vec2 plane = gl_FragCoord.xy * size - view.xy;
  vec3 ray = vec3(plane.x, plane.y * view.w + view.z, view.w - plane.y * view.z);
  float level = length(ray.xz);
  float row = ${isCylinder ? "ray.y / level" : "atan(ray.y, level)"};
  vec2 place = vec2(mod(atan(ray.x, ray.z) - crop.x, ${whole}), crop.y - row) / crop.zw;
  bool isInside = place.x < 1.00001 && place.y > -0.00001 && place.y < 1.00001;
  colour = isInside ? texture(picture, place) : vec4(0.067, 0.067, 0.067, 1);
  ${!side ? "" : `if (isInside && full.x > 0) {
    vec2 spot = place * vec2(full) - 0.5, part = fract(spot);
    ivec2 low = ivec2(floor(spot)), right = ivec2(1, 0), down = ivec2(0, 1);
    vec4 near = mix(mix(at(low), at(low + right), part.x), mix(at(low + down), at(low + 1), part.x), part.y);
    if (near.a > 0.999) colour = near;
  }`}
}`;

/** Draws views; throws without WebGL. */
class Painter {
  constructor(canvas, shape) {
    const gl = this.gl = canvas.getContext("webgl2", { alpha: false, antialias: false });
    const program = gl.createProgram();
    const add = (type, text) => {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    };
    add(gl.VERTEX_SHADER, vertexShader);
    add(gl.FRAGMENT_SHADER, fragmentShader(shape));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error("no shader");
    gl.useProgram(program);
    // No mipmaps: they would draw a line where the picture closes.
    const texture = gl.TEXTURE_2D;
    gl.bindTexture(texture, gl.createTexture());
    gl.texParameteri(texture, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(texture, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    if (!shape.isRound) gl.texParameteri(texture, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    this.shape = shape;
    [this.size, this.view, this.crop] = ["size", "view", "crop"].map(name => gl.getUniformLocation(program, name));
    this.largest = gl.getParameter(gl.MAX_TEXTURE_SIZE);
    this.tiles = shape.side ? new Tiles(gl, program, shape) : null;
  }

  take(bitmap) {
    const gl = this.gl;
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, bitmap);
    bitmap.close();
  }

  draw({ yaw, pitch, fov }) {
    const { gl, shape } = this, { width, height } = gl.canvas;
    gl.viewport(0, 0, width, height);
    const size = pixel(fov, width, height), left = shape.centre - shape.across / 2 - yaw * radians;
    gl.uniform1f(this.size, size);
    gl.uniform4f(this.view, size * width / 2, size * height / 2, Math.sin(pitch * radians), Math.cos(pitch * radians));
    gl.uniform4f(this.crop, left, shape.top, shape.across, shape.down);
    this.tiles?.use();
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}

// How many tiles are kept, and how many are fetched at once.
const room = 64, atOnce = 4;

// Places all over a view, from -1 to 1 each way, its middle first.
const places = [];
for (let place = 0; place < 289; place++) places.push([place % 17 / 8 - 1, Math.floor(place / 17) / 8 - 1]);
places.sort((one, other) => Math.hypot(...one) - Math.hypot(...other));

/** The parts of a picture in its full size that a view shows, on the graphics card. Tiles are numbered row by row. */
class Tiles {
  constructor(gl, program, shape) {
    const columns = Math.ceil(shape.pixels / shape.side), rows = Math.ceil(shape.lines / shape.side);
    // The layers of those that are there, from 1, and the requests for others.
    Object.assign(this, { gl, shape, columns, rows, shown: new Map(), coming: new Map(), wanted: [], failures: 0 });
    this.full = gl.getUniformLocation(program, "full");
    ["layers", "tiles"].forEach((name, index) => {
      const type = index ? gl.TEXTURE_2D_ARRAY : gl.TEXTURE_2D;
      gl.uniform1i(gl.getUniformLocation(program, name), index + 1);
      gl.activeTexture(gl.TEXTURE1 + index);
      gl.bindTexture(type, gl.createTexture());
      gl.texParameteri(type, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(type, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      if (!index) gl.texStorage2D(type, 1, gl.R8UI, columns, rows);
    });
    gl.activeTexture(gl.TEXTURE0);
  }

  get missing() { return this.wanted.filter(tile => !this.shown.has(tile)); }

  /** Goes after the tiles of a view, those next to its middle first, if it has use for them. */
  seek(view, width, height) {
    const { shape, columns, rows, coming } = this, { side, pixels, lines } = shape;
    const size = pixel(view.fov, width, height), wanted = new Set();
    if (shape.across / size > pixels * Math.max(0.5, 4096 / Math.max(pixels, lines))) {
      for (const [x, y] of places) {
        const [across, down] = shape.place(view, x * size * width / 2, y * size * height / 2);
        const column = Math.floor(across * pixels / side), row = Math.floor(down * lines / side);
        if (column < columns && row >= 0 && row < rows && wanted.size < room) wanted.add(row * columns + column);
      }
    }
    this.wanted = [...wanted];
    for (const [tile, request] of coming) if (!wanted.has(tile)) request.abort();
    for (const tile of this.missing) {
      if (coming.size < atOnce && !coming.has(tile) && !this.rest) this.fetch(tile);
    }
  }

  async fetch(tile) {
    const request = new AbortController(), { columns } = this;
    this.coming.set(tile, request);
    try {
      const url = `${this.base}tiles/${tile % columns}-${Math.floor(tile / columns)}.jpg`;
      const answer = await fetch(url, { signal: request.signal });
      const bitmap = await createImageBitmap(await answer.blob(), { imageOrientation: "none" });
      if (this.wanted.includes(tile)) this.take(tile, bitmap);
      this.failures = 0;
    } catch {
      // The server may be busy, or have none.
      if (!request.signal.aborted) {
        this.rest ||= setTimeout(() => this.onChange(this.rest = 0), 1000 * 2 ** Math.min(this.failures++, 6));
      }
    }
    this.coming.delete(tile);
    this.onChange();
  }

  take(tile, bitmap) {
    const { gl, shown, shape, columns, rows } = this, type = gl.TEXTURE_2D_ARRAY;
    const count = Math.min(room, columns * rows);
    let layer = shown.size + 1;
    const mark = (tile, layer) => {
      gl.activeTexture(gl.TEXTURE1);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, tile % columns, Math.floor(tile / columns), 1, 1, gl.RED_INTEGER,
        gl.UNSIGNED_BYTE, new Uint8Array([layer]));
    };
    if (layer > count) {
      const old = [...shown.keys()].find(other => !this.wanted.includes(other));
      layer = shown.get(old);
      shown.delete(old);
      mark(old, 0);
    }
    gl.activeTexture(gl.TEXTURE2);
    if (!shown.size) gl.texStorage3D(type, 1, gl.RGBA8, shape.side, shape.side, count);
    gl.texSubImage3D(type, 0, 0, 0, layer - 1, bitmap.width, bitmap.height, 1, gl.RGBA, gl.UNSIGNED_BYTE, bitmap);
    bitmap.close();
    mark(tile, layer);
    shown.set(tile, layer);
    gl.activeTexture(gl.TEXTURE0);
  }

  use() { this.gl.uniform2i(this.full, this.shown.size && this.shape.pixels, this.shape.lines); }
}

/** A picture around its viewer. `onReady` is told of frames, `onFailure` that none will come. */
class Surrounding {
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
    const listeners = {
      pointerdown: this.press, pointermove: this.drag, pointerup: this.release, pointercancel: this.release,
      wheel: this.scroll, webglcontextlost: () => this.onFailure(),
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
    this.fetch(this.shape.across / pixel(this.view.fov, width, height));
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
    this.look(this.shape.start);
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
    this.painter.draw(this.view);
    if (this.shape.heading !== undefined) {
      const bearing = (Math.round(this.shape.heading + this.view.yaw) % 360 + 360) % 360;
      this.compass.textContent = `${"N NE E SE S SW W NW N".split(" ")[Math.round(bearing / 45)]} ${bearing}°`;
    }
    this.onReady();
    const missing = this.tiles?.missing.length ?? 0;
    this.element.dispatchEvent(new CustomEvent("drawn", { detail: { ...this.view, size: this.size, missing } }));
  }

  press(event) {
    this.speed = null;
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
    const size = pixel(this.view.fov, clientWidth, clientHeight) / radians;
    const right = (x - newX) * size / Math.max(0.3, Math.cos(this.view.pitch * radians)), up = (newY - y) * size;
    const time = Math.max(1, event.timeStamp - last.timeStamp);
    this.turn(right, up, !spread && [right / time, up / time]);
    this.last = event.timeStamp;
  }

  release(event) {
    this.fingers.delete(event.pointerId);
    // Who rests first, or wants no motion, wants no swing.
    if (event.timeStamp - this.last > 50 || matchMedia("(prefers-reduced-motion: reduce)").matches) this.speed = null;
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
    this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.03 : 0.001)));
    // At the end of the zoom the page scrolls on.
    if (this.view.fov !== before) event.preventDefault();
  }
}

/** A picture that pans and zooms in its frame. */
class Flat {
  constructor(link, image) {
    this.element = link;
    this.image = image;
    link.classList.toggle("tall", image.getAttribute("height") > 1.5 * image.getAttribute("width"));
    link.draggable = image.draggable = false;
    let moved = 0;
    link.addEventListener("pointerdown", () => moved = 0);
    link.addEventListener("pointermove", event => {
      if (event.pointerType !== "mouse" || !event.buttons) return;
      link.scrollBy(-event.movementX, -event.movementY);
      moved += Math.abs(event.movementX) + Math.abs(event.movementY);
    });
    // The end of a drag is no click.
    link.addEventListener("click", event => moved > 4 && event.preventDefault());
  }

  /** Scrolls as if the frame showed 75 degrees; false when all is seen. */
  turn(right, up) {
    const link = this.element, degree = link.clientWidth / 75;
    link.scrollBy(right * degree, -up * degree);
    return link.scrollWidth > link.clientWidth || link.scrollHeight > link.clientHeight;
  }

  /** Enlarges, by the style sheet, about the middle of what is seen. */
  zoom(factor) {
    const { element: link, image } = this, { scrollLeft, scrollTop, clientWidth, clientHeight } = link;
    const { offsetWidth, offsetHeight } = image;
    this.factor = clamp(this.factor * factor, 1, 8);
    image.style.setProperty("--zoom", this.factor);
    // As sharp as it is wide.
    image.sizes = `${image.offsetWidth}px`;
    link.scrollTo(
      (scrollLeft + clientWidth / 2) * image.offsetWidth / offsetWidth - clientWidth / 2,
      (scrollTop + clientHeight / 2) * image.offsetHeight / offsetHeight - clientHeight / 2);
  }

  reset() {
    const link = this.element;
    this.factor = 1;
    this.zoom(1);
    link.scrollTo((link.scrollWidth - link.clientWidth) / 2, (link.scrollHeight - link.clientHeight) / 2);
  }
}

/** A figure, its buttons and its keys. */
class Viewer {
  constructor(figure, link, image) {
    const { kind, mayBeSphere } = figure.dataset;
    Object.assign(this, { figure, image, isFull: false });
    this.flat = this.shown = new Flat(link, image);
    const tools = document.createElement("div");
    tools.className = "viewer-tools";
    tools.innerHTML = `<button value="+" aria-label="Zoom in">+</button>
      <button value="-" aria-label="Zoom out">\u2212</button>
      <button value="home">Reset</button>
      ${mayBeSphere === undefined ? "" : `<button value="s">View as sphere</button>`}
      <button value="f">Full screen</button>`;
    tools.addEventListener("click", event => this.act(event.target.value));
    link.after(tools);
    this.buttons = name => tools.querySelector(`[value=${name}]`);
    figure.addEventListener("keydown", event => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("figcaption")) return;
      if (!this.act(event.key, event.shiftKey ? 15 : 5)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    document.addEventListener("fullscreenchange", () => this.setFull(document.fullscreenElement === figure));
    if (["sphere", "partialSphere", "cylinder"].includes(kind)) this.bend(kind);
    if (!this.around) this.flat.reset();
  }

  /** Does what a key, or the button for it, stands for. */
  act(key, step) {
    const { shown } = this, actions = {
      arrowleft: () => shown.turn(-step, 0), arrowright: () => shown.turn(step, 0),
      arrowup: () => shown.turn(0, step), arrowdown: () => shown.turn(0, -step),
      "+": () => shown.zoom(1.25), "=": () => shown.zoom(1.25), "-": () => shown.zoom(0.8), _: () => shown.zoom(0.8),
      home: () => shown.reset(), f: () => this.fill(), escape: () => this.isFull && this.fill(),
      s: () => !!this.buttons("s") && (this.around ? this.lay() : this.bend("sphere"))
    };
    const action = actions[key.toLowerCase()];
    return action && action() !== false;
  }

  bend(kind) {
    try {
      const around = this.around = new Surrounding(
        this.figure, kind, this.image.alt, () => this.show(around), () => this.lay());
    } catch {
      // The picture stays.
    }
  }

  /** Back to the picture as the page brought it. */
  lay() {
    this.show(this.flat);
    this.around.remove();
    this.around = null;
    this.flat.reset();
  }

  show(shown) {
    if (shown === this.shown) return;
    const hadFocus = this.shown.element === document.activeElement;
    this.shown = shown;
    this.figure.classList.toggle("live", shown !== this.flat);
    this.buttons("s")?.setAttribute("aria-pressed", shown !== this.flat);
    if (hadFocus) shown.element.focus();
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
    this.buttons("f").textContent = isFull ? "Close" : "Full screen";
    if (!this.around) this.flat.reset();
    (isFull ? this.shown.element : this.opener).focus();
  }
}

for (const figure of document.querySelectorAll("figure.viewer")) {
  const image = figure.querySelector("a > img");
  if (image) new Viewer(figure, image.parentElement, image);
}
