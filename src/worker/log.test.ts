import { expect, it } from 'vitest';
import { createLog } from './log.ts';

it('keeps no line that is endless', () => {
  const written: string[] = [];
  const log = createLog(0, (text) => written.push(text)).about('T-1', 'a-1');
  log.line('agent', 'x'.repeat(30_000_000));
  log.line('agent', 'short');
  expect(written.map((text) => text.length < 40_000)).toEqual([true, true]);
  expect(written[0]).toContain('x … (29967232 more characters)');
  expect(JSON.parse(written[1] ?? '')).toMatchObject({ task: 'T-1', text: 'short' });
});
