import { clip } from '../lib/index.ts';

const TAIL_CHARS = 8000;
const LINE_CHARS = 1000;

interface OutputTail {
  add(line: string): void;
  text(): string;
}

/** The end of an output: what the next attempt needs to see of it. */
export function outputTail(): OutputTail {
  const lines: string[] = [];
  let size = 0;
  return {
    add(line) {
      const kept = clip(line, LINE_CHARS);
      lines.push(kept);
      size += kept.length + 1;
      while (size > TAIL_CHARS) size -= (lines.shift() ?? '').length + 1;
    },
    text: () => lines.join('\n').trim(),
  };
}

/** Any text as one line that fits where people look. */
export function oneLine(text: string, max = 500): string {
  return clip(text.trim().replaceAll(/\s+/g, ' '), max);
}
