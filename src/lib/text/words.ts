/** "3 tasks", "1 task". */
export function counted(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}

/** "a, b, c and 4 more"; "none" of nothing. */
export function listed(items: readonly string[], most = Infinity): string {
  if (items.length === 0) return 'none';
  const more = items.length - most;
  return items.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Each item in a line of its own, after a line end. */
export const bullets = (items: readonly string[]): string => items.map((item) => `\n  - ${item}`).join('');
export const indented = (items: readonly string[]): string => items.map((item) => `\n  ${item}`).join('');

export const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

/** At most so many characters; a text that was cut ends with "…". */
export function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** White space becomes one blank, control characters go. */
export function inOneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
}
