import { clamp, direction, pixel, radians, whole } from "./view.js";

/** What part of the sphere a picture covers, as the page says. */
export class Shape {
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
  limited({ yaw, pitch, fov, isPlanet }, width, height) {
    if (isPlanet) {
      return { yaw: yaw - 360 * Math.round(yaw / 360), pitch: clamp(pitch, -90, 90), fov: clamp(fov, 90, 320), isPlanet };
    }
    const long = Math.max(width, height), tall = this.highest - this.lowest;
    const widest = (angle, side) =>
      angle >= Math.PI ? 120 : 2 * Math.atan(Math.tan(angle / 2) * long / side) / radians;
    // However large it is, its own pixels can be told from each other.
    const least = 2 * Math.atan(long * this.across / this.pixels / 4) / radians;
    fov = Math.min(Math.max(fov, Math.min(10, least)), 120, widest(tall, height), widest(this.across, width));
    const size = pixel({ fov }, width, height), right = size * width / 2, up = size * height / 2;
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

  /** Where in the picture, from 0 to 1, a view shows what is so far right and up from its middle. */
  place(view, right, up) {
    const { azimuth, elevation, above, level } = direction(view, right, up);
    const row = this.isCylinder ? above / level : elevation;
    const turn = (azimuth - this.centre + this.across / 2) / whole;
    return [(turn - Math.floor(turn)) * whole / this.across, (this.top - row) / this.down];
  }

  /** The little planet, as large as fits. */
  planet(width, height) {
    const long = Math.max(width, height) / Math.min(width, height);
    return { pitch: -90, fov: 4 * Math.atan(1.08 * long) / radians, isPlanet: true };
  }
}
