// Places days and rows. It is arithmetic alone, so the height of everything is known before any picture is there.

/** The measures of a timeline of a width, in pixels. */
export function measures(width) {
  const isSmall = width < 600;
  return {
    gap: isSmall ? 3 : 6, apart: isSmall ? 14 : 24, label: 44, line: 48, below: isSmall ? 8 : 16,
    target: isSmall ? 150 : 235, low: isSmall ? 110 : 200, high: isSmall ? 220 : 280, widest: isSmall ? 2.6 : 4,
    note: Math.min(width, isSmall ? 390 : 340), least: 132,
  };
}

/** How far a height is from another one, as a factor. */
const distance = (height, target) => Math.max(height / target, target / height);

/** Breaks items into rows that fill the width, each as near to the target height as can be. */
function rows(items, ratioOf, width, m) {
  const found = [];
  let row = [], sum = 0;
  const heightOf = (total, count) => (width - m.gap * (count - 1)) / total;
  const close = (height) => {
    if (row.length) found.push({ items: row, height });
    [row, sum] = [[], 0];
  };
  for (const item of items) {
    const ratio = ratioOf(item), before = row.length ? heightOf(sum, row.length) : Infinity;
    const after = heightOf(sum + ratio, row.length + 1);
    if (after < m.target && row.length && distance(before, m.target) < distance(after, m.target)) close(before);
    row.push(item);
    sum += ratio;
    if (heightOf(sum, row.length) <= m.target) close(heightOf(sum, row.length));
  }
  // The last row is not stretched beyond what the others may have.
  if (row.length) close(heightOf(sum, row.length) <= m.high ? heightOf(sum, row.length) : m.target);
  return found;
}

/** The boxes of a row from the left. */
function boxes(row, ratioOf, m, top) {
  let x = 0;
  return {
    top, height: row.height, boxes: row.items.map((item) => {
      const box = { item, x, width: ratioOf(item) * row.height };
      x += box.width + m.gap;
      return box;
    }),
  };
}

/** Lines of notes, in as many columns as there is room for. */
function lines(block, width, m, top) {
  const columns = Math.max(1, Math.floor((width + m.apart) / (m.note + m.apart)));
  const each = Math.min((width - m.apart * (columns - 1)) / columns, 560), found = [];
  for (let start = 0; start < block.notes.length; start += columns) {
    found.push({
      top: top + m.line * found.length, height: m.line, isNotes: true,
      boxes: block.notes.slice(start, start + columns)
        .map((item, column) => ({ item, x: column * (each + m.apart), width: each })),
    });
  }
  return found;
}

/**
 * Places all days; `days` have a number and ratios, in hundredths and 0 for a note.
 *
 * The result has shelves from the top: each has blocks from the left, one for each day, with rows of boxes. Days with
 * little share a shelf.
 */
export function layout(days, width) {
  const m = measures(width), shelves = [], ratios = [];
  for (const day of days) ratios.push(...day.ratios);
  const ratioOf = (item) => Math.min(m.widest, Math.abs(ratios[item]) / 100 || 1);
  let y = 0, first = 0, open = null;

  const add = (blocks, height) => {
    shelves.push({ top: y, height, blocks });
    y += height + m.below;
  };
  const widthAt = (block, height) => Math.max(
    block.sum * height + m.gap * Math.max(0, block.photos.length - 1), block.notes.length ? m.note : m.least);
  const total = (blocks, height) =>
    blocks.reduce((sum, block) => sum + widthAt(block, height), m.apart * (blocks.length - 1));

  /** Ends a shelf that days share: its rows have one height, by which they fill the width if there is enough. */
  function finish() {
    if (!open) return;
    const blocks = open;
    open = null;
    let height = m.target;
    if (total(blocks, m.high) >= width) {
      let [low, high] = [m.low, m.high];
      for (let step = 0; step < 12; step++) {
        height = (low + high) / 2;
        if (total(blocks, height) > width) high = height; else low = height;
      }
    }
    let x = 0, tallest = 0;
    for (const block of blocks) {
      block.x = x;
      block.width = Math.min(width, widthAt(block, height));
      x += block.width + m.apart;
      let top = m.label;
      block.rows = [];
      if (block.photos.length) {
        block.rows.push(boxes({ items: block.photos, height }, ratioOf, m, top));
        top += height + m.gap;
      }
      block.rows.push(...lines(block, block.width, m, top));
      tallest = Math.max(tallest, top + m.line * block.notes.length);
    }
    add(blocks, tallest);
  }

  for (const day of days) {
    const block = { day: day.number, first, count: day.ratios.length, photos: [], notes: [], sum: 0 };
    for (const ratio of day.ratios) {
      if (ratio === 0) block.notes.push(first); else {
        block.photos.push(first);
        block.sum += ratioOf(first);
      }
      first++;
    }
    const isSmall = block.notes.length <= 2 && widthAt(block, m.target) <= 0.7 * width;
    if (isSmall) {
      if (open && total([...open, block], m.low) > width) finish();
      open = [...open ?? [], block];
      if (total(open, m.target) >= width) finish();
      continue;
    }
    finish();
    let top = m.label;
    block.rows = [];
    for (const row of rows(block.photos, ratioOf, width, m)) {
      block.rows.push(boxes(row, ratioOf, m, top));
      top += row.height + m.gap;
    }
    const notes = lines(block, width, m, top);
    block.rows.push(...notes);
    block.x = 0;
    block.width = width;
    add([block], top + m.line * notes.length);
  }
  finish();
  return { shelves, height: y, width, count: first };
}

/** The first of some things, by their tops, whose end is below a place. */
export function firstBelow(things, place) {
  let [low, high] = [0, things.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (things[middle].top + things[middle].height > place) high = middle; else low = middle + 1;
  }
  return low;
}
