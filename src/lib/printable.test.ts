import { describe, expect, it } from 'vitest';
import { printable, printableInColor } from './printable.ts';

describe("a stranger's text at a terminal", () => {
  it.each([
    ['plain ü 漢 🙂\tand\nlines', 'plain ü 漢 🙂\tand\nlines'],
    ['\u001B[2J\u001B[Hcleared', 'cleared'],
    ['\u001B]0;a title\u0007after', 'after'],
    ['\u001B]8;;http://x\u001B\\link\u001B]8;;\u001B\\', 'link'],
    ['\u001BP1$q"p\u001B\\device', 'device'],
    ['over\rwritten\b\u0000\u007F', 'overwritten'],
    ['C1 \u009B2Jcontrols', 'C1 2Jcontrols'],
    ['turned \u202Egnp.exe', 'turned gnp.exe'],
    ['unfinished \u001B[', 'unfinished '],
    ['\u001B', ''],
  ])('%j is shown as %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
    expect(printableInColor(text)).toBe(shown);
  });

  it('keeps its colours where they are wanted, and they end with it', () => {
    const text = '\u001B[31mred\u001B[2K';
    expect(printableInColor(text)).toBe('\u001B[31mred\u001B[0m');
    expect(printable(text)).toBe('red');
  });
});
