import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorld, graphOf } from '../../test/support/decision-world.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { answerTo } from '../egress/proxy/denial.ts';
import type { Denial } from '../egress/proxy/denial.ts';
import { createRefusalLog } from '../egress/proxy/refusal-log.ts';
import type { Refusal } from '../protocol/index.ts';
import type { RunState } from '../state/index.ts';
import type { CliContext } from '../cli/command.ts';
import { tallyNetwork } from './network-tally.ts';
import type { NetworkTally, Tally } from './network-tally.ts';
import { jsonRenderer } from '../cli/render/line-renderers.ts';
import { formatSummary as summaryOf } from '../cli/render/summary.ts';

const BEFORE = '2026-01-01T00:00:00.000Z';
const LATER = '2026-01-01T00:00:09.000Z';

function count(lines: readonly string[], since = BEFORE): Promise<NetworkTally> {
  const file = path.join(tempFolder(), 'egress.jsonl');
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return tallyNetwork(file, since);
}

/** A line of the proxy's log, changed in that. */
const refusal = (more: Partial<Refusal> = {}): string => {
  const log: string[] = [];
  createRefusalLog((line) => log.push(line)).add(0, answerTo(denial('a.example'), []).refused);
  return JSON.stringify({ ...(JSON.parse(log[0] ?? '') as Refusal), at: LATER, ...more });
};

function denial(host: string, { port = 443, unreached = false } = {}): Denial {
  const target = { host, port, isAddress: host.includes(':') };
  return unreached ? { reason: 'unreachable', target, detail: 'no answer' } : { reason: 'not-listed', target };
}

it('refused and unreached requests are counted apart, by target and worker', async () => {
  const written: string[] = [];
  const log = createRefusalLog((text) => written.push(text.trimEnd()));
  const tell = (worker: number, denial: Denial): void => log.add(worker, answerTo(denial, []).refused);
  for (let times = 0; times < 5; times += 1) tell(1, denial('example.com'));
  tell(0, { ...denial('example.com'), reason: 'other-server-name', detail: 'more: 7 times' });
  tell(0, denial('::1', { port: 80 }));
  tell(0, denial('allowed.example', { unreached: true }));
  tell(0, denial('allowed.example', { unreached: true }));
  for (let port = 1; port <= 40; port += 1) tell(2, denial('host.example', { port }));
  for (let port = 1; port <= 30; port += 1) tell(2, denial('far.example', { port, unreached: true }));
  log.flush();
  log.close();
  const { refused, unreached } = await count(written);
  expect(refused).toMatchObject({ total: 47, unlisted: 20 });
  expect(refused.targets.slice(0, 2)).toEqual([
    { target: 'example.com:443', count: 6, workers: { '0': 1, '1': 5 } },
    { target: '[::1]:80', count: 1, workers: { '0': 1 } },
  ]);
  expect(unreached).toEqual({
    total: 32,
    unlisted: 30,
    targets: [{ target: 'allowed.example:443', count: 2, workers: { '0': 2 } }],
  });
});

const NONE: Tally = { total: 0, targets: [], unlisted: 0 };

it('lines of an earlier run or version, of another source, and lines that are not records do not count', async () => {
  const text = JSON.stringify({ at: LATER, worker: 0, source: 'egress', text: 'refused a.example:1: not listed' });
  const lines = [
    refusal({ at: '2025-12-31T23:59:59.999Z' }),
    refusal({ source: 'agent' as 'egress' }),
    refusal({ count: 99_999_999_999_999 }),
    refusal({ count: -1 }),
    refusal({ reason: 'another' as 'upgrade' }),
    text,
    'refused a.example:1: not listed',
    '{"at":',
    '[]',
  ];
  const none = { refused: NONE, unreached: NONE };
  expect(await count(lines)).toEqual(none);
  expect(await tallyNetwork('/nowhere/egress.jsonl', BEFORE)).toEqual(none);
});

it('a long name is cut', async () => {
  const {
    refused: { targets },
  } = await count([
    refusal({ host: 'y'.repeat(250) }),
    refusal({ host: null, port: null, reason: 'not-for-proxies', detail: '__proto__' }),
  ]);
  expect(targets[0]?.target.length).toBe(100);
  expect(targets[1]?.target).toBe('__proto__');
});

const target = (name: string, times: number) => ({ target: name, count: times, workers: { '0': times } });

const tally = (...targets: Tally['targets']): Tally => ({
  total: targets.reduce((sum, { count: times }) => sum + times, 0),
  targets,
  unlisted: 0,
});

const formatSummary = (state: RunState, network: NetworkTally | undefined): string =>
  summaryOf({ state, network }, graphOf([{ id: 'A' }])).toString();

describe('the end of a run', () => {
  const { state } = createWorld([{ id: 'A' }]);

  it('names the most frequent refusals, and nothing when there were none', () => {
    const targets = [
      target('example.com:443', 12),
      ...['b:1', 'c:1', 'd:1', 'e:1', 'f:1'].map((name) => target(name, 1)),
    ];
    expect(formatSummary(state, { refused: { total: 20, targets, unlisted: 3 }, unreached: NONE })).toContain(
      '\n  network  20 requests were refused: example.com:443 (12), b:1 (1), c:1 (1), d:1 (1), others (5) — see: mahabharatha logs --feature ',
    );
    expect(formatSummary(state, { refused: tally(target('b:1', 1)), unreached: NONE })).toMatch(
      /network {2}1 request was refused: b:1 \(1\) — see/,
    );
    for (const none of [undefined, { refused: NONE, unreached: NONE }])
      expect(formatSummary(state, none)).not.toContain('network');
  });

  it('names allowed targets that were out of reach in a row of their own', () => {
    const unreached = tally(target('registry.example:443', 3));
    expect(formatSummary(state, { refused: tally(target('b:1', 2)), unreached })).toContain(
      [
        '\n  network  2 requests were refused: b:1 (2)',
        `           3 requests are allowed, but their target could not be reached: registry.example:443 (3) — see: mahabharatha logs --feature ${state.feature}\n`,
      ].join('\n'),
    );
    expect(formatSummary(state, { refused: NONE, unreached: tally(target('b:1', 1)) })).toContain(
      '\n  network  1 request is allowed, but its target could not be reached: b:1 (1) — see: ',
    );
  });

  it('says both to programs, each in a line of its own', async () => {
    const said: unknown[] = [];
    const out = (text: string): unknown => said.push(JSON.parse(text));
    const renderer = jsonRenderer({ out } as unknown as CliContext);
    await renderer.close({ state, network: { refused: tally(target('a:1', 2)), unreached: tally(target('b:1', 1)) } });
    expect(said).toMatchObject([
      { type: 'refusals', total: 2, targets: [target('a:1', 2)], unlisted: 0 },
      { type: 'unreached', total: 1, targets: [target('b:1', 1)], unlisted: 0 },
    ]);
    await renderer.close({ state, network: { refused: NONE, unreached: NONE } });
    expect(said).toHaveLength(2);
  });
});
