import { inBytes } from '../lib/index.ts';

interface AttemptCaps {
  /** How much of the beginning of each attempt is written at once. */
  readonly firstBytes: number;
  /** How much of the rest, the newest of it, is kept and written when the attempt is over. */
  readonly lastBytes: number;
}

/**
 * Limits what each attempt writes to the log. A task that prints without end then pushes out neither the lines of other
 * attempts nor the beginning and end of its own. `attempt` returns the attempt at work. It is not read from the lines,
 * because a task may print any line.
 */
export function capAttempts(write: (text: string) => void, attempt: () => string, caps: AttemptCaps) {
  let current = attempt();
  let written = 0;
  let newest = createNewest(caps.lastBytes);
  const finish = (): void => {
    if (newest.leftOut() > 0) write(`… ${newest.leftOut()} lines of this attempt were left out here\n`);
    newest.texts().forEach(write);
    newest = createNewest(caps.lastBytes);
    written = 0;
  };
  return {
    /** Takes one line or many at once, with the line end. */
    push: (text: string): void => {
      const size = Buffer.byteLength(text);
      const over = written + size > caps.firstBytes;
      const now = over ? attempt() : current;
      if (now !== current) {
        finish();
        current = now;
      }
      if (written + size > caps.firstBytes) {
        if (written <= caps.firstBytes) {
          write(
            `… this attempt has printed ${inBytes(caps.firstBytes)}; the rest is left out, except its end, which follows when the attempt is over\n`,
          );
        }
        // A shorter line is not written before those that are kept.
        written = Number.POSITIVE_INFINITY;
        return newest.push(text, size);
      }
      written += size;
      write(text);
    },
    end: finish,
  };
}

/** The newest lines up to a limit, and how many were left out before them. */
function createNewest(limit: number) {
  let kept: { readonly text: string; readonly size: number }[] = [];
  let from = 0;
  let bytes = 0;
  let leftOut = 0;
  return {
    leftOut: () => leftOut,
    push: (text: string, size: number): void => {
      kept.push({ text, size });
      bytes += size;
      for (; bytes > limit && from < kept.length - 1; from += 1) {
        const { text, size } = kept[from] ?? { text: '', size: 0 };
        [bytes, leftOut] = [bytes - size, leftOut + text.split('\n').length - 1];
      }
      // Removing the first element moves all the others, so it is done for many at once.
      if (from > kept.length / 2) [kept, from] = [kept.slice(from), 0];
    },
    texts: () => kept.slice(from).map(({ text }) => text),
  };
}
