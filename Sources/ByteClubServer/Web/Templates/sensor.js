import { radians } from "./view.js";

/** Whether a view can follow how the device is held. */
export const isHeld = () => "DeviceOrientationEvent" in window && isSecureContext && matchMedia("(pointer: coarse)").matches;

/** Has a view follow how the device is held, beginning where one looks; returns what ends it, null when not allowed. */
export async function follow(around) {
  try {
    // Phones of one maker ask their owner first.
    const answer = await DeviceOrientationEvent.requestPermission?.();
    if (answer && answer !== "granted") return null;
  } catch {
    return null;
  }
  let start;
  const listen = event => {
    if (event.alpha === null) return;
    const [alpha, beta, gamma] = [event.alpha, event.beta, event.gamma].map(angle => angle * radians);
    const { sin, cos } = Math;
    // The way the back of the device looks: east, north and up (W3C Device Orientation, the axes and their order).
    const east = -(cos(alpha) * sin(gamma) + sin(alpha) * sin(beta) * cos(gamma));
    const north = -(sin(alpha) * sin(gamma) - cos(alpha) * sin(beta) * cos(gamma));
    const yaw = Math.atan2(east, north) / radians;
    const pitch = Math.asin(Math.max(-1, Math.min(1, -cos(beta) * cos(gamma)))) / radians;
    start ??= around.view.yaw - yaw;
    if (!around.fingers.size) around.look({ yaw: start + yaw, pitch });
    else start = around.view.yaw - yaw;
  };
  addEventListener("deviceorientation", listen);
  return () => removeEventListener("deviceorientation", listen);
}
