import { pixel } from "./view.js";

// How many tiles are kept, and how many are fetched at once.
const room = 64, atOnce = 4;

// Places all over a view, from -1 to 1 each way, its middle first.
const places = [];
for (let place = 0; place < 289; place++) places.push([place % 17 / 8 - 1, Math.floor(place / 17) / 8 - 1]);
places.sort((one, other) => Math.hypot(...one) - Math.hypot(...other));

/** The parts of a picture in its full size that a view shows, on the graphics card. Tiles are numbered row by row. */
export class Tiles {
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
    const size = pixel(view, width, height), wanted = new Set();
    if (!view.isPlanet && shape.across / size > pixels * Math.max(0.5, 4096 / Math.max(pixels, lines))) {
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
