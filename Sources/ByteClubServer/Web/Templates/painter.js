import { Tiles } from "./tiles.js";
import { bend, pixel, radians, whole } from "./view.js";

const vertexShader = `#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0, 1); }`;

// `view`: the canvas's reach right and up, sine and cosine of the pitch. `crop`: the picture's left edge from the
// view's azimuth, top, width and height. Tiles are mixed by hand, since a pixel's neighbours may be in other ones:
// `layers` has their number in `tiles`, from 1, and `full` is the size of the whole, 0 when none are there.
const fragmentShader = ({ isCylinder, isRound, side }) => `#version 300 es
precision highp float;
precision highp int;
uniform sampler2D picture;
uniform float size, bend;
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
  float depth = 1.0 - bend * dot(plane, plane);
  vec3 ray = vec3(plane.x, plane.y * view.w + depth * view.z, depth * view.w - plane.y * view.z);
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
export class Painter {
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
    [this.size, this.bend, this.view, this.crop] =
      ["size", "bend", "view", "crop"].map(name => gl.getUniformLocation(program, name));
    this.largest = gl.getParameter(gl.MAX_TEXTURE_SIZE);
    this.tiles = shape.side ? new Tiles(gl, program, shape) : null;
  }

  take(bitmap) {
    const gl = this.gl;
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, bitmap);
    bitmap.close();
  }

  draw(view) {
    const { gl, shape } = this, { width, height } = gl.canvas, { yaw, pitch } = view;
    gl.viewport(0, 0, width, height);
    const size = pixel(view, width, height), left = shape.centre - shape.across / 2 - yaw * radians;
    gl.uniform1f(this.size, size);
    gl.uniform1f(this.bend, bend(view));
    gl.uniform4f(this.view, size * width / 2, size * height / 2, Math.sin(pitch * radians), Math.cos(pitch * radians));
    gl.uniform4f(this.crop, left, shape.top, shape.across, shape.down);
    this.tiles?.use();
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}
