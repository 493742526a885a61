import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'tsdown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HANDOVER_MARK } from '../../src/protocol/index.ts';
import { newSpec, removeAll, startContainer } from '../support/containers.ts';
import { dockerForTests } from '../support/docker.ts';
import { inTime } from '../support/in-time.ts';
import type { ProbeReport, ProbeStep } from '../support/job-probe.ts';

const { engine, image, why } = await dockerForTests();
const MEGABYTE = 1024 * 1024;
const MEMORY = 256 * MEGABYTE;
const PIDS = 256;
const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mahabharatha-probe-')));
/** What the container launcher sets. */
const OURS = { [HANDOVER_MARK]: '1' };

/** Bash that starts itself over and over, each time in a session and an environment of its own. */
const ESCAPING_BOMB = `echo 'while :; do env -i PATH=$PATH setsid bash /tmp/bomb & done' > /tmp/bomb; bash /tmp/bomb`;
/** For it to reach its limit, also on a busy machine. */
const BOMB_MS = 4000;
/** One process that takes all the memory there is. */
const EATER = `node -e 'const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))'`;

interface Ran {
  readonly code: number | null;
  readonly reports: readonly ProbeReport[];
  readonly stdout: string;
}

/** Runs commands one after the other as a worker does, in one container that is locked down like a worker's. */
async function runJobs(steps: readonly ProbeStep[], env: Readonly<Record<string, string>> = OURS): Promise<Ran> {
  const tmp = { kind: 'tmpfs', target: '/tmp', bytes: 32 * MEGABYTE, mode: 0o1777, uid: 1000, gid: 1000 } as const;
  const spec = newSpec(image, '', {
    command: ['node', '/probe/probe.js', JSON.stringify(steps)],
    env,
    uid: 1000,
    gid: 1000,
    mounts: [
      { kind: 'bind', source: folder, target: '/probe', readOnly: true },
      { ...tmp, exec: true },
    ],
    memoryBytes: MEMORY,
    cpus: 2,
    pids: PIDS,
    stdin: false,
    logBytes: null,
  });
  const { id, out, close, closed } = await startContainer(engine, spec);
  const [{ code }] = await Promise.all([engine.waitContainer(id), closed]);
  close();
  const reports = out.stderr.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  return { code, reports, stdout: out.stdout };
}

/** Runs one command; the worker has survived it, nothing of it is left, and the next command works. */
async function runJob(command: string, timeoutMs: number): Promise<ProbeReport & { readonly stdout: string }> {
  const { code, reports, stdout } = await runJobs([{ command, timeoutMs }]);
  const [report] = reports;
  expect(code).toBe(0);
  if (report === undefined) throw new Error('it has reported nothing');
  expect(report).toMatchObject({ left: [], next: 'works' });
  return { ...report, stdout };
}

describe.skipIf(why !== '')(`a worker that has a container for itself${why === '' ? '' : ` (${why})`}`, () => {
  beforeAll(async () => {
    await build({
      config: false,
      entry: { probe: path.resolve(import.meta.dirname, '../support/job-probe.ts') },
      outDir: folder,
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      outExtensions: () => ({ js: '.js' }),
      deps: { alwaysBundle: ['zod'] },
      dts: false,
      logLevel: 'error',
    });
    chmodSync(folder, 0o755);
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await removeAll(engine, []);
  });

  it('ends processes that have left its session and cleared their environment', async () => {
    const { detail, output } = await runJob('env -i setsid sleep 1000 & sleep 0.2; echo done; exit 3', 120_000);
    expect([detail, output]).toEqual(['exit status 3', 'done\n']);
  });

  it('does not wait for such a process that goes on printing', async () => {
    const { detail } = await runJob('env -i setsid yes & sleep 0.2; exit 4', 120_000);
    expect(detail).toBe('exit status 4');
  });

  it('survives a fork bomb, whether or not the process that started it ends', async () => {
    const { code, reports } = await runJobs([
      { command: ':(){ :|:& };:', timeoutMs: 120_000 },
      { command: ':(){ :|:& };:; exec sleep 1000', timeoutMs: BOMB_MS },
      { command: `${ESCAPING_BOMB} & sleep 1`, timeoutMs: 120_000 },
      { command: ESCAPING_BOMB, timeoutMs: BOMB_MS },
      { command: 'git --version', timeoutMs: 120_000 },
    ]);
    expect(code).toBe(0);
    const tooMany = "processes could not be started: the worker's limit of 256 (workers.container.pids) was reached";
    // One that ends at once may have started few processes only, or so many that its own shell could not fork.
    expect(reports.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^exit status (0|254)/),
      `still running after 4 s, limit 4 s; ${tooMany}`,
      expect.stringContaining('exit status 0'),
      `still running after 4 s, limit 4 s; ${tooMany}`,
      'exit status 0',
    ]);
    for (const report of reports) expect(report).toMatchObject({ left: [], next: 'works' });
    expect(reports[3]?.output).toContain('fork');
  });

  it('survives a job that uses up the memory, and says what happened', async () => {
    const words = "a process was killed: the worker's memory of 256 MiB was used up";
    expect(await runJob(EATER, 120_000)).toMatchObject({ ok: false, detail: expect.stringContaining(words) });
    const aside = await runJob(`${EATER}; echo went on; exit 0`, 120_000);
    expect(aside).toMatchObject({ ok: true, detail: `exit status 0; ${words}` });
    expect(aside.output).toContain('went on');
    expect(await runJob('head -c 1000000 /dev/zero > /tmp/small; kill -9 $$', 120_000)).toMatchObject({
      detail: 'ended by SIGKILL',
    });
  });

  it('survives a job that does so with many processes, each of them smaller than the worker', async () => {
    const small = '(x=$(head -c 3000000 /dev/zero | tr "\\0" x); sleep 1000; echo "$x" > /dev/null) &';
    const words = "the worker's memory of 256 MiB was used up";
    const limited = (ms: number): ReturnType<typeof runJob> =>
      runJob(`for n in $(seq 100); do ${small} done; wait`, ms);
    const { detail } = await inTime(4000, limited, (report) => report.detail.includes(words));
    expect(detail).toContain(words);
  });

  it('sends heartbeats under a flood of output, and does not hold all of that in memory', async () => {
    const { detail, silentMs, durationMs, rssBytes, stdout } = await runJob('yes | head -c 40000000', 600_000);
    expect(detail).toBe('exit status 0');
    expect(stdout.length / MEGABYTE).toBeLessThan(17);
    expect(stdout).toMatch(/"[\d,]+ lines \([\d.]+ MiB\) were left out: an attempt may print 16 MiB"/);
    expect(silentMs / durationMs).toBeLessThan(0.75);
    expect(rssBytes).toBeLessThan(MEMORY * 0.9);
  });

  it('ends only processes with its mark when it does not know that the container is its own', async () => {
    // Each program on its way to the last one begins with the environment of the one before.
    const until = 'until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.01; done';
    const command = `env -i setsid sleep 1000 & ${until}; setsid sleep 1001 & ${until}`;
    const { reports } = await runJobs([{ command, timeoutMs: 120_000 }], {});
    expect(reports).toMatchObject([{ detail: 'exit status 0', left: [expect.any(String)] }]);
  });
});
