import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../lib/index.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { expendable, memoryExceeded, readOomKills } from './memory.ts';

function groups(files: Readonly<Record<string, string>>): string {
  const folder = tempFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
  }
  return folder;
}

describe('the record of the memory', () => {
  it('is read from control groups of version 2', () => {
    const events = 'low 0\nhigh 0\nmax 17\noom 4\noom_kill 3\noom_group_kill 0\n';
    const root = groups({ 'memory.events': events, 'memory.max': '4294967296\n' });
    expect(readOomKills(root)).toEqual({ kills: 3, limitHits: 17, limitBytes: 4 * 1024 ** 3 });
    expect(readOomKills(groups({ 'memory.events': events, 'memory.max': 'max\n' })).limitBytes).toBeUndefined();
  });

  it('is read from control groups of version 1, also on kernels that do not count killed processes', () => {
    const control = 'oom_kill_disable 0\nunder_oom 0\n';
    const files = { 'memory/memory.failcnt': '9\n', 'memory/memory.limit_in_bytes': '268435456\n' };
    expect(readOomKills(groups({ ...files, 'memory/memory.oom_control': `${control}oom_kill 2\n` }))).toEqual({
      kills: 2,
      limitHits: 9,
      limitBytes: 256 * 1024 ** 2,
    });
    expect(readOomKills(groups({ ...files, 'memory/memory.oom_control': control })).kills).toBeUndefined();
    const unlimited = { 'memory/memory.limit_in_bytes': '9223372036854771712\n' };
    expect(readOomKills(groups(unlimited)).limitBytes).toBeUndefined();
  });

  it('is empty without control groups', () => {
    const nothing = { kills: undefined, limitHits: undefined, limitBytes: undefined };
    expect(readOomKills(path.join(tempFolder(), 'nothing'))).toEqual(nothing);
    expect(readOomKills(groups({ 'memory.events': 'nonsense', 'memory.max': '-1' }))).toEqual(nothing);
  });
});

describe('the memory of a job', () => {
  const limitBytes = 4 * 1024 ** 3;
  const counting = (kills: number) => ({ kills, limitHits: 0, limitBytes });
  const silent = (limitHits?: number) => ({ kills: undefined, limitHits, limitBytes });
  const certain = { limit: 'memory', bytes: limitBytes, certain: true };
  const likely = { ...certain, certain: false };

  it('was used up when the kernel has killed a process for it', () => {
    expect(memoryExceeded(counting(1), counting(2), false)).toEqual(certain);
    expect(memoryExceeded(counting(1), counting(4), true)).toEqual(certain);
    const unlimited = { ...counting(2), limitBytes: undefined };
    expect(memoryExceeded(counting(1), unlimited, true)).toEqual({ ...certain, bytes: undefined });
  });

  it('was not used up when the kernel counts and has killed no process, even if the job was killed', () => {
    expect(memoryExceeded(counting(1), counting(1), true)).toBeUndefined();
    expect(memoryExceeded(counting(1), counting(1), false)).toBeUndefined();
  });

  it('is the likely reason when the kernel does not count and the job was killed', () => {
    expect(memoryExceeded(silent(), silent(), true)).toEqual(likely);
    expect(memoryExceeded(silent(1), silent(2), true)).toEqual(likely);
    expect(memoryExceeded(silent(1), silent(2), false)).toBeUndefined();
  });

  it('was not used up when its limit was never reached', () => {
    expect(memoryExceeded(silent(3), silent(3), true)).toBeUndefined();
  });
});

it.runIf(process.platform === 'linux')(
  'starts what the kernel would kill first, and stays what it is itself',
  async () => {
    const own = readFileSync('/proc/self/oom_score_adj', 'utf8');
    const env = { PATH: process.env['PATH'] };
    const look = expendable('bash', [
      '-c',
      'cat /proc/$$/oom_score_adj; (cat /proc/self/oom_score_adj); echo "$1"',
      'x',
      'a  "b"',
    ]);
    const { stdout } = await run(look.file, look.args, { cwd: '/', env });
    expect(stdout).toBe('1000\n1000\na  "b"\n');
    const missing = expendable('/no/such/program', []);
    expect(await run(missing.file, missing.args, { cwd: '/', env })).toMatchObject({ code: 127 });
    expect(readFileSync('/proc/self/oom_score_adj', 'utf8')).toBe(own);
  },
);
