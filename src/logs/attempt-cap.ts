import { inBytes } from '../lib/index.ts';

export interface AttemptCaps {
  /** What is let through of each attempt, from its beginning on. */
  readonly firstBytes: number;
  /** Of what comes beyond it, the newest so much is kept until the attempt is over. */
  readonly lastBytes: number;
}

export interface AttemptCap {
  /** Takes one line or many at once, with the line end. */
  push(text: string): void;
  end(): void;
}

/**
 * Each attempt has room of its own: a task that prints without end costs the log neither what others have printed nor
 * the beginning and the end of what is said of itself. `attempt` names the one at work, and must not be asked of the
 * lines: a task may print any.
 */
export function capAttempts(write: (text: string) => void, attempt: () => string, caps: AttemptCaps): AttemptCap {
  let current = attempt();
  let written = 0;
  let newest = createNewest(caps.lastBytes);
  const finish = (): void => {
    if (newest.leftOut > 0) write(`… ${newest.leftOut} lines of this attempt were left out here\n`);
    newest.texts().forEach(write);
    newest = createNewest(caps.lastBytes);
    written = 0;
  };
  return {
    push: (text) => {
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
            `… this attempt has printed ${inBytes(caps.firstBytes)}; of the rest the end follows when it is over\n`,
          );
        }
        // What is shorter does not slip in before what is kept.
        written = Number.POSITIVE_INFINITY;
        return newest.push(text, size);
      }
      written += size;
      write(text);
    },
    end: finish,
  };
}

interface Newest {
  readonly leftOut: number;
  push(text: string, size: number): void;
  texts(): readonly string[];
}

function createNewest(limit: number): Newest {
  let kept: { readonly text: string; readonly size: number }[] = [];
  let from = 0;
  let bytes = 0;
  let leftOut = 0;
  return {
    get leftOut() {
      return leftOut;
    },
    push: (text, size) => {
      kept.push({ text, size });
      bytes += size;
      for (; bytes > limit && from < kept.length - 1; from += 1) {
        const { text, size } = kept[from] ?? { text: '', size: 0 };
        [bytes, leftOut] = [bytes - size, leftOut + text.split('\n').length - 1];
      }
      // To cut off each one by itself would move all the others.
      if (from > kept.length / 2) [kept, from] = [kept.slice(from), 0];
    },
    texts: () => kept.slice(from).map(({ text }) => text),
  };
}
