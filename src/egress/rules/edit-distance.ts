/** Pure. How many letters must be put in, left out, changed, or swapped with the next one, to make one of the other. */
export function editDistance(one: string, other: string): number {
  /** rows[i][j]: between the first i letters of the one and the first j of the other. */
  const rows = [Array.from({ length: other.length + 1 }, (_, index) => index)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= one.length; i += 1) {
    rows.push([i]);
    for (let j = 1; j <= other.length; j += 1) {
      const changed = at(i - 1, j - 1) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const swaps = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = swaps ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY;
      rows[i]?.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, changed, swapped));
    }
  }
  return at(one.length, other.length);
}
