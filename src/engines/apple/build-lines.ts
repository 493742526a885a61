import type { Answer } from './cli.ts';
import { reasonIn } from './complaints.ts';

const KEPT_LINES = 20;
// oxlint-disable-next-line no-control-regex -- colours of the tools that run in a build
const COLOURS = /\u001B\[[0-9;]*[A-Za-z]/g;
/** BuildKit says before each line which step prints it, and when: "#7 0.214 Hello". */
const STEP = /^#\d+ (?:\d+\.\d+ )?/;

export interface BuildLines {
  take(line: string): void;
  failure(answer: Answer): { readonly reason: string; readonly last: readonly string[] };
}

export function createBuildLines(onLine: (line: string) => void): BuildLines {
  const last: string[] = [];
  return {
    take: (line) => {
      const text = line.replaceAll(COLOURS, '').replace(STEP, '').trimEnd();
      if (text === '') return;
      last.push(text);
      if (last.length > KEPT_LINES) last.shift();
      onLine(text);
    },
    failure: ({ stderr, code }) => ({ reason: reasonIn(stderr, code), last }),
  };
}
