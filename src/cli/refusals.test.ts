import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { createRefusalLog } from '../egress/refusal-log.ts';
import type { LogLine } from '../protocol/index.ts';
import { countRefusals } from './refusals.ts';
import type { Refusals } from './refusals.ts';
import { formatSummary } from './render/summary.ts';

const BEFORE = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:00:09.000Z';

function count(lines: readonly string[], since = BEFORE): Promise<Refusals> {
  const file = path.join(tempFolder(), 'egress.jsonl');
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return countRefusals(file, since);
}

const line = (text: string, more: Partial<LogLine> = {}): string =>
  JSON.stringify({ at: LATER, worker: 0, source: 'egress', text, ...more });

it('what the proxy writes is counted by target and worker, as often as it was', async () => {
  const written: string[] = [];
  const log = createRefusalLog((text) => written.push(text.trimEnd()));
  for (let times = 0; times < 5; times += 1) log.tell(1, 'refused example.com:443', 'it is not listed');
  log.tell(0, 'refused example.com:443', 'it is not listed: 7 times');
  log.tell(0, 'refused [::1]:80', 'it is loopback');
  log.tell(0, 'could not reach allowed.example:443', 'nobody answers');
  for (let port = 1; port <= 40; port += 1) log.tell(2, `refused host.example:${port}`, 'it is not listed');
  log.flush();
  log.close();
  const refusals = await count(written);
  expect(refusals).toMatchObject({ total: 47, unlisted: 20 });
  expect(refusals.targets.slice(0, 2)).toEqual([
    { target: 'example.com:443', count: 6, workers: { '0': 1, '1': 5 } },
    { target: '[::1]:80', count: 1, workers: { '0': 1 } },
  ]);
});

it('lines of an earlier run, of somebody else, and such as nobody understands do not count', async () => {
  const refused = 'refused a.example:1: not listed';
  const lines = [
    line(refused, { at: '2025-12-31T23:59:59.999Z' }),
    line(refused, { source: 'agent' }),
    line('refused'),
    line('refused a.example:1 again, 99999999999999 times'),
    line('the proxy cannot start'),
    refused,
    '{"at":',
    '[]',
  ];
  expect(await count(lines)).toEqual({ total: 0, targets: [], unlisted: 0 });
  expect(await countRefusals('/nowhere/egress.jsonl', BEFORE)).toEqual({ total: 0, targets: [], unlisted: 0 });
});

it('a name is shown as text that is not long and does nothing to a terminal', async () => {
  const { targets } = await count([
    line(`refused \u001b]0;x\u0007\u202e${'y'.repeat(500)}: no`),
    line('refused __proto__: no'),
  ]);
  expect(targets[0]?.target).toMatch(/^\?\]0;x\?\?y{90,}$/);
  expect(targets[0]?.target.length).toBe(100);
  expect(targets[1]?.target).toBe('__proto__');
});

const target = (name: string, times: number) => ({ target: name, count: times, workers: { '0': times } });

it('the summary of a run names the most frequent ones, and nothing when there were none', () => {
  const { state } = createWorld([{ id: 'A' }]);
  const targets = [
    target('example.com:443', 12),
    ...['b:1', 'c:1', 'd:1', 'e:1', 'f:1'].map((name) => target(name, 1)),
  ];
  expect(formatSummary(state, { total: 20, targets, unlisted: 3 })).toContain(
    '\n  network  20 requests were refused: example.com:443 (12), b:1 (1), c:1 (1), d:1 (1), others (5) — see: mahabharatha logs --feature ',
  );
  expect(formatSummary(state, { total: 1, targets: [target('b:1', 1)], unlisted: 0 })).toMatch(
    /network {2}1 request was refused: b:1 \(1\) — see/,
  );
  for (const none of [undefined, { total: 0, targets: [], unlisted: 0 }])
    expect(formatSummary(state, none)).not.toContain('network');
});
