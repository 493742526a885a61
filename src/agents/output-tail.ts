import { clip, createTail } from '../lib/index.ts';

const TAIL_CHARS = 8000;
const LINE_CHARS = 1000;

/** The end of what an agent has shown, for the prompt of the next attempt. */
export function outputTail() {
  const tail = createTail(TAIL_CHARS);
  return {
    /** Returns the lines. */
    add: (lines: readonly string[]): readonly string[] => {
      for (const line of lines) tail.push(`${clip(line, LINE_CHARS)}\n`);
      return lines;
    },
    text: () => tail.text().trim(),
  };
}
