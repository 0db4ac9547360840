// Turns pages of a shared folder with the arrow keys, and goes back to it with Escape.

addEventListener("keydown", event => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  // A picture that is looked around in, and whatever takes text, have keys of their own.
  if (event.target.closest?.("canvas, input, textarea, .viewer.full") || document.fullscreenElement) return;
  const rel = { ArrowLeft: "prev", ArrowRight: "next", Escape: "up" }[event.key];
  const link = rel && document.querySelector(`a[rel=${rel}]`);
  if (!link) return;
  event.preventDefault();
  location.assign(link.href);
});
