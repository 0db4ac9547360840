import { clamp } from "./view.js";

/** A picture that pans and zooms in its frame. */
export class Flat {
  constructor(link, image) {
    this.element = link;
    this.image = image;
    link.classList.toggle("tall", image.getAttribute("height") > 1.5 * image.getAttribute("width"));
    link.draggable = image.draggable = false;
    link.addEventListener("pointermove", event => {
      if (event.pointerType !== "mouse" || !event.buttons) return;
      link.scrollBy(-event.movementX, -event.movementY);
    });
    // The file is a key or another button away: a click is for looking.
    link.addEventListener("click", event => {
      if (event.detail && !event.ctrlKey && !event.metaKey && !event.shiftKey) event.preventDefault();
    });
    link.addEventListener("dblclick", () => this.factor > 1 ? this.reset() : this.zoom(2.5));
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
