import { clip } from '../lib/text/words.ts';

/** Longest list of findings of one kind: a broken generator could make millions of them. */
export const MANY = 100;

/** Text from the file as part of a message: quoted, cut, without control characters. */
export function quote(text: string): string {
  return JSON.stringify(clip(text, 100)).replaceAll(/\p{Cc}/gu, '\uFFFD');
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

/** A value of the wrong type, in words. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return `the text ${quote(value)}`;
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`;
  return 'an object';
}
