import type { z } from 'zod';
import { clip, counted, listed } from './words.ts';

/** Text from a file as part of a message: quoted, cut, without control characters. */
export function quote(text: string): string {
  return JSON.stringify(clip(text, 100)).replaceAll(/\p{Cc}/gu, '\uFFFD');
}

/** Where something stands in a file: `tasks[2].files.create[0]`. */
export function place(path: readonly PropertyKey[], whole: string): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? String(step) : `.${String(step)}`;
  }
  return text === '' ? whole : text;
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

const EXPECTED: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'text',
};

/** What is wrong with a value, in place of zod's own words; undefined where the schema has words of its own. */
export function shapeProblem(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const expected = EXPECTED[issue.expected] ?? issue.expected;
      if (issue.input === undefined) return `is missing; it must be ${expected}`;
      return `expected ${expected}, got ${describe(issue.input)}`;
    }
    case 'invalid_value':
      return `expected one of ${listed(issue.values.map((value) => JSON.stringify(value)))}; got ${describe(issue.input)}`;
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'too_small':
      if (issue.origin === 'number') return `must be ${issue.minimum} or more, and is ${String(issue.input)}`;
      return issue.minimum === 1 ? 'is empty' : undefined;
    case 'too_big':
      if (issue.origin === 'number') return `must be ${issue.maximum} or less, and is ${String(issue.input)}`;
      return `may have ${counted(Number(issue.maximum), 'entry', 'entries')} at most`;
    default:
      return undefined;
  }
}
