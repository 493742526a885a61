/**
 * A sequence of items, some of which are gaps: a gap stands for any number of items, also none.
 * A path is a sequence of names with `**` as the gap; a name is a sequence of characters with `*` as the gap.
 */
export interface Sequence<Item> {
  readonly items: readonly Item[];
  /** Both -1 when there is no gap. */
  readonly firstGap: number;
  readonly lastGap: number;
}

export interface Alphabet<Item> {
  readonly gap: Item;
  /** Whether two items, neither of them the gap, can stand for one and the same thing. */
  readonly meet: (a: Item, b: Item) => boolean;
}

export function sequence<Item>(items: readonly Item[], gap: Item): Sequence<Item> {
  return { items, firstGap: items.indexOf(gap), lastGap: items.lastIndexOf(gap) };
}

/** Whether some sequence without gaps fits both. Exact, and at worst as many steps as `a` has items times those of `b`. */
export function sequencesMeet<Item>(a: Sequence<Item>, b: Sequence<Item>, alphabet: Alphabet<Item>): boolean {
  if (a.firstGap === -1) return b.firstGap === -1 ? equals(a, b, alphabet) : fits(b.items, a.items, alphabet);
  if (b.firstGap === -1) return fits(a.items, b.items, alphabet);
  // With a gap on both sides, each one's gap swallows the other's middle: only the ends can disagree.
  return headsMeet(a, b, alphabet) && tailsMeet(a, b, alphabet);
}

function equals<Item>(a: Sequence<Item>, b: Sequence<Item>, alphabet: Alphabet<Item>): boolean {
  if (a.items.length !== b.items.length) return false;
  for (const [index, item] of a.items.entries()) {
    if (!alphabet.meet(item, b.items[index] as Item)) return false;
  }
  return true;
}

function headsMeet<Item>(a: Sequence<Item>, b: Sequence<Item>, alphabet: Alphabet<Item>): boolean {
  const length = Math.min(a.firstGap, b.firstGap);
  for (let index = 0; index < length; index++) {
    if (!alphabet.meet(a.items[index] as Item, b.items[index] as Item)) return false;
  }
  return true;
}

function tailsMeet<Item>(a: Sequence<Item>, b: Sequence<Item>, alphabet: Alphabet<Item>): boolean {
  const aEnd = a.items.length - 1;
  const bEnd = b.items.length - 1;
  const length = Math.min(aEnd - a.lastGap, bEnd - b.lastGap);
  for (let back = 0; back < length; back++) {
    if (!alphabet.meet(a.items[aEnd - back] as Item, b.items[bEnd - back] as Item)) return false;
  }
  return true;
}

/**
 * Whether a pattern with gaps fits items without: each piece between two gaps is put as far left as it goes.
 * On a mismatch only the last gap grows, since an earlier one could not help more.
 */
function fits<Item>(pattern: readonly Item[], items: readonly Item[], { gap, meet }: Alphabet<Item>): boolean {
  let at = 0;
  let gapAt = -1;
  let resume = 0;
  for (let index = 0; index < items.length;) {
    if (at < pattern.length && pattern[at] === gap) {
      gapAt = at++;
      resume = index;
    } else if (at < pattern.length && meet(pattern[at] as Item, items[index] as Item)) {
      at++;
      index++;
    } else if (gapAt === -1) {
      return false;
    } else {
      at = gapAt + 1;
      index = ++resume;
    }
  }
  while (at < pattern.length && pattern[at] === gap) at++;
  return at === pattern.length;
}
