/** The numbers of a text and the letters after each: "1h 30m" is [['1', 'h'], ['30', 'm']]; null for any other text. */
export function tokensOf(text) {
  if (!/^\s*(\d+(\.\d+)?\s*[a-z]+\s*)+$/.test(text)) return null;
  return [...text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)].map(([, number, unit]) => [number, unit]);
}
