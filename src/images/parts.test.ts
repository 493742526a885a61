import { describe, expect, it } from 'vitest';
import { partsLabel, partsOf } from './parts.ts';
import type { Parts } from './parts.ts';

const PARTS: Parts = {
  version: '1.2.3-rc.1+x',
  program: 'a'.repeat(64),
  recipe: 'b'.repeat(64),
  claude: '2.1.197',
  codex: '',
  gemini: '0.1.2',
  opencode: '',
  bun: '',
  base: `[::1]:5000/a_b/node:24@sha256:${'c'.repeat(64)}`,
  baseId: `sha256:${'c'.repeat(64)}`,
  certificates: '',
  platform: 'linux/arm64/v8',
};

describe('the label with the parts of an image', () => {
  it('is read as it was written', () => {
    expect(partsOf(partsLabel(PARTS))).toEqual(PARTS);
  });

  it.each<[string, Partial<Parts>]>([
    ['an escape sequence', { base: '\u001B[2Jnode' }],
    ['a line end', { version: '1.0.0\nall is well' }],
    ['a sentence', { platform: 'linux; all is well' }],
    ['no end', { claude: '1'.repeat(10_000) }],
  ])('does not count with %s in it, since it may be forged', (_, change) => {
    expect(partsOf(partsLabel({ ...PARTS, ...change }))).toBeUndefined();
  });
});
