// A view is where one looks: yaw, pitch and fov (of the longer side) in degrees, and whether the picture is bent into a
// little planet, by the stereographic projection. All else is in radians, and planes are at distance 1.

export const radians = Math.PI / 180;
export const whole = 2 * Math.PI;

/** A value within limits, or their middle. */
export const clamp = (value, low, high) => low > high ? (low + high) / 2 : Math.min(Math.max(value, low), high);

/** How much of the square of the distance from the middle a ray falls back, on the plane of a view. */
export const bend = view => view.isPlanet ? 0.25 : 0;

/** The size of a pixel in the middle of a view. */
export const pixel = ({ fov, isPlanet }, width, height) =>
  (isPlanet ? 4 * Math.tan(fov * radians / 4) : 2 * Math.tan(fov * radians / 2)) / Math.max(width, height);

/** The azimuth and the elevation of what a view shows so far right and up from its middle. */
export function direction(view, right, up) {
  const sine = Math.sin(view.pitch * radians), cosine = Math.cos(view.pitch * radians);
  const depth = 1 - bend(view) * (right * right + up * up);
  const above = up * cosine + depth * sine, ahead = depth * cosine - up * sine, level = Math.hypot(right, ahead);
  return { azimuth: Math.atan2(right, ahead) + view.yaw * radians, elevation: Math.atan2(above, level), above, level };
}

/** How far right and up from its middle a view shows a direction in degrees; null where it does not. */
export function position(view, yaw, pitch) {
  const turn = (yaw - view.yaw) * radians, level = Math.cos(pitch * radians), above = Math.sin(pitch * radians);
  const sine = Math.sin(view.pitch * radians), cosine = Math.cos(view.pitch * radians);
  const right = level * Math.sin(turn), ahead = level * Math.cos(turn);
  const up = above * cosine - ahead * sine, depth = above * sine + ahead * cosine;
  const distance = view.isPlanet ? (1 + depth) / 2 : depth;
  return distance > 0.05 ? [right / distance, up / distance] : null;
}
