import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../protocol/index.ts';
import { formatHtml, formatMarkdown } from './index.ts';
import type { RunReport } from './index.ts';

const HOSTILE = `<script>alert(1)</script> "quoted" 'single' & | [a](http://x) www.x.test @team, fixes #1 and gh-2 \u001B[2J\u202E`;

const report = (rest: Partial<RunReport> = {}): RunReport => ({
  feature: 'login',
  runId: '20261119t220435-dc432e',
  status: 'failed',
  cause: HOSTILE,
  base: 'b'.repeat(40),
  integration: 'mahabharatha/login/integration',
  integrationTip: 'c'.repeat(40),
  settings: { workers: 2, mode: 'container', agent: 'claude', ownership: 'enforce' },
  startedAt: '2026-11-19T22:04:35.000Z',
  endedAt: '2026-11-19T22:06:35.000Z',
  workedMs: 100_000,
  tasks: [
    {
      id: 'A',
      title: HOSTILE,
      status: 'complete',
      level: 1,
      cause: null,
      commit: 'd'.repeat(40),
      merged: true,
      attemptCount: 5,
      attempts: [{ number: 5, worker: 1, outcome: 'accepted', detail: HOSTILE, usage: null, ms: 61_000 }],
    },
    {
      id: 'B',
      title: 'B',
      status: 'blocked',
      level: 2,
      cause: 'A\nfailed',
      commit: null,
      merged: false,
      attemptCount: 0,
      attempts: [],
    },
  ],
  levels: [{ level: 1, status: 'complete', gates: [{ name: HOSTILE, ok: false, required: false, detail: HOSTILE }] }],
  cost: { ...NO_USAGE, inputTokens: 10, cacheReadTokens: 5, outputTokens: 2, costUsd: 1.239 },
  warnings: [HOSTILE],
  timeline: {
    periods: [{ from: 0, to: 1000 }],
    lanes: [
      {
        name: 'worker 1',
        spans: [{ kind: 'work', of: HOSTILE, attempt: 2, from: 0, to: 500, end: 'bad', detail: HOSTILE }],
      },
    ],
  },
  ...rest,
});

describe('a report', () => {
  it('as a page has no markup but its own, and loads nothing', () => {
    const page = formatHtml(report());
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &quot;quoted&quot; &#39;single&#39; &amp; |');
    expect(page).not.toContain('\u001B');
    expect(page).not.toMatch(/<script|\u202E| (src|href|onclick)=|url\(/);
    expect(page).toContain(`default-src 'none'; style-src 'unsafe-inline'`);
    const tags = new Set([...page.matchAll(/<([a-z1-6]+)/g)].map(([, name]) => name));
    expect([...tags].filter((name) => !TAGS.has(name ?? ''))).toEqual([]);
  });

  it('as Markdown has words of tasks as plain text, one line each', () => {
    const text = formatMarkdown(report());
    expect(text).toContain(
      String.raw`\<script\>alert(1)\</script\> "quoted" 'single' &amp; \| \[a\](http:<!-- -->//x) www<!-- -->.x.test @<!-- -->team, fixes #<!-- -->1 and gh-<!-- -->2`,
    );
    expect(text).not.toContain('\u001B');
    expect(text).not.toMatch(/[^\\](<script|\[a)|\u202E|@team|#1|gh-2|:\/\/|www\./);
    expect(text).toContain('| B | B | 2 | blocked | 0 |  |\n');
    expect(text).toContain('- B is blocked: A failed\n');
  });

  it.each([
    ['a page', formatHtml],
    ['Markdown', formatMarkdown],
  ])('as %s has the facts of the run', (_, format) => {
    const text = format(report());
    for (const words of [
      '1 of 2 done',
      '1 min 40 s, 2026-11-19 22:04 to 2026-11-19 22:06 UTC',
      '$1.24 (15 tokens in, 2 out)',
      '2 workers, container',
    ])
      expect(text).toContain(words);
    const early = format(report({ cost: null, endedAt: null, timeline: { periods: [], lanes: [] } }));
    expect(early).toContain('none reported');
    expect(early).toContain('2026-11-19 22:04 to now UTC');
    expect(early).not.toContain('Time line');
  });

  it('as Markdown draws each worker in one line, and hides no failure', () => {
    const spans = [
      { kind: 'work', of: 'A', attempt: 1, from: 0, to: 500, end: 'bad', detail: '' },
      { kind: 'gates', of: 'level 1', attempt: null, from: 500, to: 1000, end: 'good', detail: '' },
    ] as const;
    const timeline = { periods: [{ from: 0, to: 1000 }], lanes: [{ name: 'worker 0', spans }] };
    expect(formatMarkdown(report({ timeline }))).toContain(`worker 0 ${'█'.repeat(36)}✗${'▒'.repeat(35)}\n`);
  });
});

const TAGS = new Set(
  'html head meta title style body h1 h2 dl dt dd section p b i div span table thead tbody tr th td details summary ol li'.split(
    ' ',
  ),
);
