/** The known word that a misspelt one most likely stands for; undefined when none is near. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const written = folded(word);
  let best: { readonly word: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const meant = folded(candidate);
    const distance = distanceBetween(written, meant);
    if (distance > tolerance(written, meant) || distance >= (best?.distance ?? Infinity)) continue;
    best = { word: candidate, distance };
  }
  return best?.word;
}

/** Before a list of what is known; empty when no known word is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = nearest(word, known);
  return meant === undefined ? '' : `Did you mean "${meant}"? `;
}

/** Without case and marks between words: "acceptanceCriteria" is "acceptance_criteria". */
export const folded = (word: string): string => word.toLowerCase().replaceAll(/[-_. ]/g, '');

/** Most short words are one letter away from another one. */
function tolerance(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  return shorter < 4 ? 0 : shorter < 8 ? 1 : 2;
}

const MOST = 2;

/** How many letters were left out, added, changed, or swapped with the next one; a large distance is not counted. */
function distanceBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > MOST) return Infinity;
  let [before, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const changes = [at(last, column) + 1, at(next, column - 1) + 1, at(last, column - 1) + (isSame ? 0 : 1)];
      next.push(Math.min(...changes, isSwap ? at(before, column - 2) + 1 : Infinity));
    }
    [before, last] = [last, next];
  }
  return at(last, other.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity;
