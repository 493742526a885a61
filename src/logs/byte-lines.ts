/**
 * Cuts bytes into whole lines: a block may end within a character, or within a secret. As many lines at once as there
 * are, since one by one somebody who prints nothing but line ends would keep us busy. What is longer than `longest`
 * bytes without a line end is given as it is, so that it does not grow without end. `end` gives the rest.
 */
export function createByteLines(
  onLines: (text: string) => void,
  longest = Infinity,
): { push(block: Buffer): void; end(): void } {
  let rest: Buffer[] = [];
  let held = 0;
  const give = (last: Buffer): void => {
    const text = Buffer.concat([...rest, last]).toString('utf8');
    [rest, held] = [[], 0];
    onLines(text);
  };
  const end = (): void => {
    if (held > 0) give(Buffer.alloc(0));
  };
  return {
    push: (block) => {
      const cut = block.lastIndexOf(10);
      if (cut !== -1) give(block.subarray(0, cut));
      // A copy: a block that is mostly used up would be kept alive by its end.
      rest.push(Buffer.from(block.subarray(cut + 1)));
      held += block.length - cut - 1;
      if (held > longest) end();
    },
    end,
  };
}
