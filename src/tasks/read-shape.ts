import type { z } from 'zod';
import { graphFile } from './schema.ts';
import type { GraphFile } from './schema.ts';
import { describe, place } from './words.ts';

interface Shape {
  /** Undefined when there are problems. */
  readonly file: GraphFile | undefined;
  readonly problems: readonly string[];
}

/** Checks each place of the file by itself. */
export function readShape(value: unknown): Shape {
  const result = graphFile.safeParse(value, { error: wrongType });
  if (result.success) return { file: result.data, problems: [] };
  const problems = result.error.issues.map((issue) => `${place(issue.path)}: ${issue.message}`);
  return { file: undefined, problems };
}

const EXPECTED: Readonly<Record<string, string>> = {
  array: 'a list',
  number: 'a number',
  object: 'an object',
  string: 'text',
};

/** Other kinds of issues have their messages in the schema. */
function wrongType(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  const expected = EXPECTED[issue.expected] ?? issue.expected;
  if (issue.input === undefined) return `is missing; it must be ${expected}`;
  return `expected ${expected}, got ${describe(issue.input)}`;
}
