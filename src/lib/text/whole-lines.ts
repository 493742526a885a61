const LINE_END = 10;

/**
 * Lets only whole lines through, each with its end: a block may end within a character, or within a secret. What is
 * longer than `longest` bytes without an end gets one, so that what is held does not grow without end.
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
        // A copy: a block that is mostly used up would be kept alive by its end.
        rest.push(Buffer.from(block.subarray(cut)));
        held += block.length - cut;
      }
      return held > longest ? Buffer.concat([whole, end()]) : whole;
    },
    end,
  };
}

/** The same as text without the last line end. As many lines at once as there are: there may be millions of empty ones. */
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
