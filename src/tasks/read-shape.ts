import { shapeProblem } from '../lib/text/shape.ts';
import { graphFile } from './schema.ts';
import type { GraphFile } from './schema.ts';
import { place } from './words.ts';

interface Shape {
  /** Undefined when there are problems. */
  readonly file: GraphFile | undefined;
  readonly problems: readonly string[];
}

/** Checks each place of the file by itself. */
export function readShape(value: unknown): Shape {
  const result = graphFile.safeParse(value, { error: shapeProblem });
  if (result.success) return { file: result.data, problems: [] };
  const problems = result.error.issues.map((issue) => `${place(issue.path)}: ${issue.message}`);
  return { file: undefined, problems };
}
