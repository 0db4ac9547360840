import { pixel, position } from "./view.js";

/** The links of a figure at their places in the picture. */
export class Spots {
  constructor(list, around) {
    this.around = around;
    this.links = [...list.querySelectorAll("a")];
    around.element.addEventListener("drawn", () => this.place());
    for (const link of this.links) {
      link.addEventListener("focus", () => {
        if (!link.parentElement.classList.contains("away") || !link.matches(":focus-visible")) return;
        around.spin(false);
        around.look({ yaw: +link.dataset.yaw, pitch: +link.dataset.pitch });
      });
    }
  }

  place() {
    const { view, element } = this.around, { clientWidth, clientHeight } = element;
    const size = pixel(view, clientWidth, clientHeight);
    for (const link of this.links) {
      const item = link.parentElement, at = position(view, +link.dataset.yaw, +link.dataset.pitch);
      const [x, y] = at ? [clientWidth / 2 + at[0] / size, clientHeight / 2 - at[1] / size] : [0, 0];
      const isSeen = at && x > 0 && y > 0 && x < clientWidth && y < clientHeight;
      // What is not seen can still be reached by keys, and is looked at then.
      item.classList.toggle("away", !isSeen);
      item.style.transform = isSeen ? `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)` : "";
    }
  }
}
