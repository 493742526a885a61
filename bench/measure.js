/** Median and spread: on a noisy machine the mean says more about the noise than about the program. */
export function summarize(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: medianOf(sorted), min: sorted[0], max: sorted.at(-1), count: sorted.length };
}

export function median(values) {
  return summarize(values).median;
}

function medianOf(sorted) {
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Wall time of an asynchronous piece of work, in ms. */
export async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/**
 * Lets the contestants take turns, `rounds` times, each round in the other order, so that a busy minute of the machine
 * hits all of them. Each contestant returns a number; the answer is one list of numbers per contestant.
 */
export async function interleave(contestants, rounds) {
  const names = Object.keys(contestants);
  const values = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      values[name].push(await contestants[name](round));
    }
  }
  return values;
}

/** Ratios within each round: both numbers come from the same minute. */
export function ratios(values, references) {
  return values.map((value, round) => value / references[round]);
}

export function formatSpread({ median, min, max }, unit = '', digits = 0) {
  const text = (value) => value.toFixed(digits);
  return `${text(median)}${unit} (${text(min)} to ${text(max)})`;
}
