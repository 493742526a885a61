/** The longest line that is kept whole; a longer one is cut, and says so. */
export const LINE_LIMIT = 32_768;

/** The line, or its beginning and how much is missing when it is longer than the limit. */
export function cutLine(line: string, limit = LINE_LIMIT, dropped = 0): string {
  const over = dropped + Math.max(0, line.length - limit);
  return over > 0 ? `${line.slice(0, limit)} … (${over} more characters)` : line;
}

/** Cuts a stream of text into lines. No more than the limit is kept of a line. */
export function createLineSplitter(
  onLine: (line: string) => void,
  limit = LINE_LIMIT,
): { push(text: string): void; end(): void } {
  let rest = '';
  let dropped = 0;
  const emit = (): void => {
    const line = dropped === 0 && rest.endsWith('\r') ? rest.slice(0, -1) : rest;
    onLine(cutLine(line, limit, dropped));
    [rest, dropped] = ['', 0];
  };
  const keep = (text: string): void => {
    // One more than the limit: it may be the \r of the line end.
    const room = Math.max(0, limit + 1 - rest.length);
    rest += text.slice(0, room);
    dropped += Math.max(0, text.length - room);
  };
  return {
    push: (text) => {
      const parts = text.split('\n');
      for (const part of parts.slice(0, -1)) {
        keep(part);
        emit();
      }
      keep(parts.at(-1) ?? '');
    },
    end: () => {
      if (rest !== '') emit();
    },
  };
}

/** Keeps the end of a text of any length. */
export function createTail(limit: number): { push(text: string): void; text(): string } {
  let kept = '';
  let cut = false;
  return {
    push: (text) => {
      kept += text;
      if (kept.length > limit * 2) {
        kept = kept.slice(-limit);
        cut = true;
      }
    },
    text: () => (cut || kept.length > limit ? `…${kept.slice(-limit)}` : kept),
  };
}
