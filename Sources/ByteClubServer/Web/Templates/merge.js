// Merges two later versions of a text line by line, with the answer of `TextMerge` in ByteClubCore.
// A hunk [a, b, c, d] says that the lines from c to d of a new text stand for those from a to b of the old one.

const split = text => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

function compare(old, now, levels) {
  const mates = [], hunks = [];
  let one = [...old.keys()], two = [...now.keys()], steps = 0, a = 0, c = 0;
  const isSame = (p, q) => old[one[p]] === now[two[q]];

  /** Keeps the lines with which two ranges begin and end, and returns what is between. */
  function trim(i, k, j, l) {
    while (i < k && j < l && isSame(i, j)) mates[one[i++]] = two[j++];
    while (i < k && j < l && isSame(k - 1, l - 1)) mates[one[--k]] = two[--l];
    return [i, k, j, l];
  }

  /** The places of lines that are there once. */
  function once(lines, places, at, end) {
    const found = new Map();
    for (; at < end; at++) {
      const line = lines[places[at]];
      found.set(line, found.has(line) ? -1 : at);
    }
    return found;
  }

  function match(levels, ...ranges) {
    let [i, k, j, l] = trim(...ranges);
    if (i === k || j === l) return;
    // The most lines that both ranges have once, in the same order.
    const ends = [], found = [];
    if (levels > 0) {
      const others = once(now, two, j, l);
      for (const [line, p] of once(old, one, i, k)) {
        const q = others.get(line), at = ends.findLastIndex(end => end[1] < q);
        if (p >= 0 && q >= 0) ends[at + 1] = [p, q, ends[at]];
      }
    }
    for (let last = ends.at(-1); last; last = last[2]) found.unshift(last);
    for (const [p, q] of found[0] ? found : [middle(i, k, j, l)]) {
      match(levels - 1, i, p, j, q);
      [i, j] = [p, q];
    }
    match(levels - 1, i, k, j, l);
  }

  /** A point on a shortest path from the first corner to the last, found from both (Myers 1986). */
  function middle(i, k, j, l) {
    const ahead = { [i - j]: i }, back = { [k - l]: -k };
    for (let length = 1; ; length++) {
      for (const [sign, from, here, there] of [[1, i - j, ahead, back], [-1, k - l, back, ahead]]) {
        if ((steps += length) > 6e6) throw 0;
        for (let d = from - length; d <= from + length; d += 2) {
          if (d < i - l || d > k - j) continue;
          let p = sign * Math.max((here[d - sign] ?? -Infinity) + 1, here[d + sign] ?? -Infinity), q;
          while ((q = p - (sign < 0)) >= i && q < k && q - d >= j && q - d < l && isSame(q, q - d)) p += sign;
          here[d] = sign * p;
          if (here[d] + there[d] >= 0) return [p, p - d];
        }
      }
    }
  }

  // Lines that only one side has are changes anyway.
  const [i, k, j, l] = trim(0, one.length, 0, two.length);
  const olds = new Set(old.slice(i, k)), news = new Set(now.slice(j, l));
  one = one.slice(i, k).filter(at => news.has(old[at]));
  two = two.slice(j, l).filter(at => olds.has(now[at]));
  match(levels, 0, one.length, 0, two.length);
  mates[old.length] = now.length;
  mates.forEach((d, b) => {
    if (b > a || d > c) hunks.push([a, b, c, d]);
    [a, c] = [b + 1, d + 1];
  });
  return hunks;
}

const moved = (hunk, by) => hunk.map(line => line + by);

/** How far up and down a hunk may be moved between two others, and be the same change. */
function slide([a, b, c, d], before, after, old, now) {
  const [lines, from, to] = a === b ? [now, c, d] : [old, a, b];
  let up = 0, down = 0;
  if (a === b || c === d) {
    while (a - up > (before?.[1] ?? 0) && lines[from - up - 1] === lines[to - up - 1]) up++;
    while (b + down < (after?.[0] ?? old.length) && lines[from + down] === lines[to + down]) down++;
  }
  return [up, down];
}

/** What changed, each hunk moved down until it meets another; hunks that meet become one. */
function changes(old, now, levels) {
  const hunks = [], result = [];
  compare(old, now, levels).forEach((hunk, at, all) => {
    const last = hunks.at(-1), [a, b, c, d] = moved(hunk, -slide(hunk, last, all[at + 1], old, now)[0]);
    if (last?.[1] === a) [last[1], last[3]] = [b, d]; else hunks.push([a, b, c, d]);
  });
  hunks.reverse().forEach((hunk, at) => {
    const [next] = result, [a, b, c, d] = moved(hunk, slide(hunk, hunks[at + 1], next, old, now)[1]);
    if (next?.[0] === b) [next[0], next[2]] = [a, c]; else result.unshift([a, b, c, d]);
  });
  return result;
}

/** Both sides' changes laid over the base; null when they touch, differ, and cannot be moved apart. */
function lay(base, texts, levels) {
  const queues = texts.map(text => changes(base, text, levels)), next = () => Math.min(...queues.map(hunks => hunks[0]?.[0] ?? Infinity));
  let result = "", written = 0, free = 0, start;
  const write = (text, [a, b, c, d]) => {
    result += base.slice(written, a).join("") + text.slice(c, d).join("");
    written = b;
    free = b + 1;
  };
  while ((start = next()) < Infinity) {
    let stop = start, side;
    const taken = [[], []];
    while ((side = queues.findIndex(hunks => hunks[0]?.[0] <= stop)) >= 0) {
      const hunk = queues[side].shift();
      taken[side].push(hunk);
      stop = Math.max(stop, hunk[1]);
    }
    const room = [[Math.min(next() - 1, base.length)], [0, free]];
    const [mine, theirs] = taken.map((hunks, side) => hunks[0] && texts[side].slice(hunks[0][2] - hunks[0][0] + start, hunks.at(-1)[3] + stop - hunks.at(-1)[1]));
    if (mine?.join("") === theirs?.join("")) {
      write(mine, [start, stop, 0, mine.length]);
      continue;
    }
    // An unchanged line separates each two, and none of two could be the first.
    const apart = taken.flatMap((hunks, side) => hunks.map((hunk, at) => {
      const text = texts[side], [up, down] = slide(hunk, hunks[at - 1] ?? room[1], hunks[at + 1] ?? room[0], base, text);
      return { hunk, text, first: hunk[0] - up, last: hunk[0] + down, end: hunk[1] + down };
    })).sort((one, other) => one.end - other.end || one.first - other.first);
    free = 0;
    for (const [at, { hunk, text, first, last, end }] of apart.entries()) {
      const place = apart[1] ? Math.max(first, free) : hunk[0], next = apart[at + 1];
      if (place > last || next?.end === end && next.first === first) return null;
      write(text, moved(hunk, place - hunk[0]));
    }
  }
  return result + base.slice(written).join("");
}

/** The text with the changes of both sides; null for a conflict, and where it would take long. */
export function merge(base, mine, theirs) {
  if (/\0/.test(base + mine + theirs)) return null;
  if (mine === theirs || theirs === base) return mine;
  if (mine === base) return theirs;
  for (const levels of [32, 0]) {
    try {
      const result = lay(split(base), [split(mine), split(theirs)], levels);
      if (result !== null) return result;
    } catch {
      // It would take long.
    }
  }
  return null;
}

/** The ranges of a text that another one replaces, the last first. */
export function edits(text, other) {
  const old = split(text), now = split(other), length = end => old.slice(0, end).join("").length;
  return compare(old, now, 32).reverse().map(([a, b, c, d]) => [length(a), length(b), now.slice(c, d).join("")]);
}
