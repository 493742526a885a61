/**
 * The lines of `printed` that are missing at the end of `kept`: those after the place where the longest end of `kept` is
 * found in `printed`. Of several such places the last one counts. Without one, all of `printed` is missing.
 */
export function missingLines(kept: readonly string[], printed: readonly string[]): readonly string[] {
  // Notes about lines that were left out, and half a line of a killed writer, were never printed.
  const known = new Set(printed);
  const end = kept.filter((line) => known.has(line)).toReversed();
  // Backwards, an end of `kept` is a beginning: then one pass finds for every place how much of it is there.
  const lengths = commonBeginnings([...end, undefined, ...printed.toReversed()]).slice(end.length + 1);
  let [place, longest] = [printed.length, 0];
  for (const [at, length] of lengths.entries()) if (length > longest) [place, longest] = [at, length];
  return printed.slice(printed.length - place);
}

/** For each place, the length of the longest common beginning of the values from there on and of all values (Z function). */
function commonBeginnings(values: readonly (string | undefined)[]): number[] {
  const lengths = values.map(() => 0);
  let [left, right] = [0, 0];
  for (let at = 1; at < values.length; at++) {
    let length = at < right ? Math.min(right - at, lengths[at - left] ?? 0) : 0;
    while (at + length < values.length && values[length] === values[at + length]) length += 1;
    lengths[at] = length;
    if (at + length > right) [left, right] = [at, at + length];
  }
  return lengths;
}
