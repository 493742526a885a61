const LINE_END = 10;

/**
 * Passes on whole lines, each with its end: a block may end within a character, or within a secret. A line of more than
 * `longest` bytes gets an end, so that the rest that is held has a limit.
 */
export function createWholeLines(longest = Infinity): { push(block: Buffer): Buffer; end(): Buffer } {
  let rest: Buffer[] = [];
  let held = 0;
  const end = (): Buffer => {
    const line = held === 0 ? Buffer.alloc(0) : Buffer.concat([...rest, Buffer.of(LINE_END)]);
    [rest, held] = [[], 0];
    return line;
  };
  return {
    push: (block) => {
      const cut = block.lastIndexOf(LINE_END) + 1;
      const whole = cut === 0 ? Buffer.alloc(0) : Buffer.concat([...rest, block.subarray(0, cut)]);
      if (cut > 0) [rest, held] = [[], 0];
      if (cut < block.length) {
        // A copy, because a slice would keep the whole block in memory.
        rest.push(Buffer.from(block.subarray(cut)));
        held += block.length - cut;
      }
      return held > longest ? Buffer.concat([whole, end()]) : whole;
    },
    end,
  };
}

/** The same as text, without the last line end. Lines that come together are passed on together: there may be millions of empty ones. */
export function createByteLines(
  onLines: (text: string) => void,
  longest?: number,
): { push(block: Buffer): void; end(): void } {
  const lines = createWholeLines(longest);
  const give = (bytes: Buffer): void => {
    if (bytes.length > 0) onLines(bytes.toString('utf8', 0, bytes.length - 1));
  };
  return { push: (block) => give(lines.push(block)), end: () => give(lines.end()) };
}
