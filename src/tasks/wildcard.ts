/**
 * A sequence of items, some of them gaps: a gap stands for any number of items, or for none.
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
  /** Whether two items, neither of them the gap, can stand for the same thing. */
  readonly meet: (a: Item, b: Item) => boolean;
}

export function sequence<Item>(items: readonly Item[], gap: Item): Sequence<Item> {
  return { items, firstGap: items.indexOf(gap), lastGap: items.lastIndexOf(gap) };
}

/** Whether some sequence without gaps fits both. Exact; at worst it takes the product of both lengths in steps. */
export function sequencesMeet<Item>(a: Sequence<Item>, b: Sequence<Item>, alphabet: Alphabet<Item>): boolean {
  const [one, other] = [a.items, b.items];
  if (a.firstGap === -1 && b.firstGap === -1) {
    return one.length === other.length && one.every((item, index) => alphabet.meet(item, other[index] as Item));
  }
  if (a.firstGap === -1) return fits(other, one, alphabet);
  if (b.firstGap === -1) return fits(one, other, alphabet);
  // The gap of each can stand for the middle of the other, so only heads and tails can differ.
  const head = Math.min(a.firstGap, b.firstGap);
  const tail = Math.min(one.length - a.lastGap, other.length - b.lastGap) - 1;
  for (let index = 0; index < head; index++) {
    if (!alphabet.meet(one[index] as Item, other[index] as Item)) return false;
  }
  for (let back = 1; back <= tail; back++) {
    if (!alphabet.meet(one.at(-back) as Item, other.at(-back) as Item)) return false;
  }
  return true;
}

/**
 * Whether a pattern with gaps fits items without: each piece between two gaps is placed as far left as possible. On a
 * mismatch only the last gap grows, because a longer earlier one would not help either.
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
