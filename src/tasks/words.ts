/** Longest list of findings of one kind: a broken generator could make millions of them. */
export const MANY = 100;

/** Text from the file in one line of a message: quoted, cut, and without anything that a terminal would obey. */
export function quote(text: string): string {
  return JSON.stringify(clip(text, 100)).replaceAll(/\p{Cc}/gu, '\uFFFD');
}

/** Text from the file in one line of a plan: white space becomes one blank, control characters go. */
export function plain(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
}

export function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** "a, b, c and 4 more". */
export function some(items: readonly string[], limit: number): string {
  const shown = items.slice(0, limit).join(', ');
  return items.length <= limit ? shown : `${shown} and ${items.length - limit} more`;
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Where something stands in the file: `tasks[2].files.create[0]`. */
export function place(path: readonly PropertyKey[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? String(step) : `.${String(step)}`;
  }
  return text === '' ? 'task graph' : text;
}

/** What was found where something else was expected. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return `the text ${quote(value)}`;
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`;
  return 'an object';
}
