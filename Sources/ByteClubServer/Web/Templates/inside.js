// Panoramas in a text: a click looks around where the picture stands. Without WebGL it leads to the photo's page.
import { element, icon } from "./page.js";

let close;

document.addEventListener("click", async event => {
  const link = event.target.closest?.("a.photo"), { ctrlKey, metaKey, shiftKey, altKey } = event;
  if (!link?.querySelector("[data-kind]") || event.defaultPrevented || ctrlKey || metaKey || shiftKey || altKey) return;
  event.preventDefault();
  link.classList.add("opening");
  try {
    await open(link);
  } catch {
    location.assign(link.href);
  }
  link.classList.remove("opening");
});

const styled = () => document.querySelector("link[href$='viewer.css']") ?? new Promise((resolve, reject) => {
  const href = new URL("viewer.css", import.meta.url).href;
  document.head.append(element("link", { rel: "stylesheet", href, onload: resolve, onerror: reject }));
});

function button(name, made, text) {
  made.append(icon(name));
  made.className = "icon-button";
  made.title = text;
  made.setAttribute("aria-label", text);
  return made;
}

/** Puts a viewer in a picture's place as soon as it has something to show; there is one at a time. */
async function open(link) {
  const [{ Viewer }] = await Promise.all([import("./viewer.js"), styled()]);
  close?.();
  const picture = link.querySelector("img"), image = picture.cloneNode(), page = element("a", { href: link.href }, image);
  const figure = element("figure", { className: "viewer inside waiting" }, page);
  Object.assign(figure.dataset, picture.dataset);
  link.before(figure);
  const viewer = new Viewer(figure, page, image), canvas = viewer.around?.element;
  close = () => {
    close = null;
    const hadFocus = figure.contains(document.activeElement);
    viewer.held?.();
    viewer.around?.remove();
    canvas?.getContext("webgl2")?.getExtension("WEBGL_lose_context")?.loseContext();
    figure.remove();
    link.hidden = false;
    if (hadFocus) link.focus();
  };
  const leave = () => {
    close?.();
    location.assign(link.href);
  };
  if (!canvas) return leave();
  viewer.lay = leave;
  figure.append(element("div", { className: "inside-tools" },
    button("photos", element("a", { href: link.href }), "Open the photo's page"),
    button("close", element("button", { type: "button", onclick: () => close() }), "Back to the picture")));
  figure.addEventListener("keydown", event => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    close();
  });
  figure.addEventListener("drawn", () => {
    figure.classList.remove("waiting");
    link.hidden = true;
    canvas.focus({ preventScroll: true });
  }, { once: true });
}
