import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { kill, killGroup, run, startJob } from './process.ts';
import type { Environment } from './process.ts';
import { randomId } from './ids.ts';
import { findByEnvironment, killByEnvironment, processStart } from './process-tree.ts';

const env = { PATH: process.env['PATH'] };
const here = { cwd: '/', env };
const bash = (script: string): readonly [string, string[]] => ['bash', ['-c', script]];

/** An environment that marks all that is started with it, and the wait until nothing of it is left. */
function marked(): { readonly here: { cwd: string; env: Environment }; readonly gone: () => Promise<void> } {
  const mark = randomId();
  onTestFinished(async () => void (await killByEnvironment('PROCESS_TEST', mark)));
  return {
    here: { cwd: '/', env: { ...env, PROCESS_TEST: mark } },
    gone: () => waitUntil('all is gone', async () => (await findByEnvironment('PROCESS_TEST', mark)).length === 0),
  };
}

describe('running a command to its end', () => {
  it('returns the exit status and both outputs', async () => {
    expect(await run(...bash('echo out; echo err >&2; exit 7'), here)).toEqual({
      code: 7,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
      timedOut: false,
      tooMuch: false,
    });
  });

  it('returns the signal that has ended it', async () => {
    expect(await run(...bash('kill -TERM $$'), here)).toMatchObject({ code: null, signal: 'SIGTERM', timedOut: false });
  });

  it('passes the input, and only the given environment', async () => {
    expect(await run('cat', [], { ...here, input: 'grün\n' })).toMatchObject({ code: 0, stdout: 'grün\n' });
    expect(await run('cat', [], here)).toMatchObject({ code: 0, stdout: '' });
    const result = await run('/usr/bin/env', [], { cwd: '/', env: { A: '1', B: undefined } });
    expect(result.stdout).toBe('A=1\n');
  });

  it('accepts a program that does not read its input', async () => {
    const result = await run('true', [], { ...here, input: 'x'.repeat(5_000_000) });
    expect(result).toMatchObject({ code: 0, signal: null });
  });

  it("keeps the user's .bashrc out of a command", async () => {
    const HOME = tempFolder();
    writeFileSync(path.join(HOME, '.bashrc'), 'echo from the .bashrc');
    for (const input of [undefined, '']) {
      const options = { cwd: '/', env: { ...env, HOME }, ...(input === undefined ? {} : { input }) };
      expect((await run(...bash('echo only this'), options)).stdout).toBe('only this\n');
    }
  });

  it('returns ten megabytes of output unchanged', async () => {
    const { stdout } = await run(process.execPath, ['-e', "process.stdout.write('ü'.repeat(5e6))"], here);
    expect(stdout).toHaveLength(5_000_000);
    expect(stdout.replaceAll('ü', '')).toBe('');
  });

  it('says that a program or its folder is missing, or that it is not a program', async () => {
    const notStarted = { code: 'PROCESS_NOT_STARTED', exit: 4 };
    await expect(run('no-such-program', [], here)).rejects.toMatchObject({
      ...notStarted,
      facts: { command: 'no-such-program', reason: expect.stringContaining('ENOENT') },
    });
    const file = path.join(tempFolder(), 'text');
    writeFileSync(file, 'not a program');
    await expect(run(file, [], here)).rejects.toMatchObject(notStarted);
    await expect(run('true', [], { ...here, cwd: '/not/there' })).rejects.toMatchObject(notStarted);
    await expect(run('true', ['a\0b'], here)).rejects.toMatchObject(notStarted);
    await expect(run('true', ['x'.repeat(4_000_000)], here)).rejects.toMatchObject(notStarted);
  });
});

describe('a command that does not end', () => {
  it.each(['sleep 1000', 'sleep 1000 & sleep 1000', 'trap "" TERM INT; sleep 1000 & wait', 'cat <(sleep 1000)'])(
    'is killed with all that it has started when its time is over: %s',
    async (script) => {
      const { here, gone } = marked();
      const result = await run(...bash(script), { ...here, timeoutMs: 300 });
      expect(result).toMatchObject({ code: null, signal: 'SIGKILL', timedOut: true });
      await gone();
    },
  );

  it('is killed when the signal fires, before or while it runs', async () => {
    const early = await run('sleep', ['1000'], { ...here, signal: AbortSignal.abort() });
    expect(early).toMatchObject({ signal: 'SIGKILL', timedOut: false });
    const controller = new AbortController();
    const running = run('sleep', ['1000'], { ...here, signal: controller.signal });
    controller.abort();
    expect(await running).toMatchObject({ signal: 'SIGKILL', timedOut: false });
  });

  it.each(['', '>&2'])('is killed when it has printed more than it may %s', async (where) => {
    const { here, gone } = marked();
    const script = `head -c 5000000 /dev/zero ${where}; sleep 1000 & wait`;
    const result = await run(...bash(script), { ...here, mostOutput: 1_000_000, timeoutMs: 60_000 });
    expect(result).toMatchObject({ signal: 'SIGKILL', timedOut: false, tooMuch: true });
    expect(result.stdout.length + result.stderr.length).toBeLessThanOrEqual(1_000_000);
    await gone();
  });

  it('is over although a background process holds its output open', async () => {
    const { here, gone } = marked();
    expect(await run(...bash('echo text; sleep 1000 & exit 3'), here)).toMatchObject({ code: 3, stdout: 'text\n' });
    await gone();
  });

  it('is over although that process has left the group', async () => {
    const cwd = tempFolder();
    const script = 'setsid bash -c "echo \\$\\$ > pid; exec sleep 1000" & until [ -s pid ]; do sleep 0.02; done';
    const result = await run(...bash(script), { ...here, cwd });
    const pid = Number(readFileSync(path.join(cwd, 'pid'), 'utf8'));
    expect(result.code).toBe(0);
    expect(await processStart(pid)).toBeDefined();
    kill(pid, 'SIGKILL');
  });
});

describe('a job', () => {
  it('streams its output as whole characters', async () => {
    const texts: string[] = [];
    const script = String.raw`printf '\xc3'; sleep 0.2; printf '\xbc\n'; echo more >&2`;
    const errors: string[] = [];
    const job = startJob(...bash(script), {
      ...here,
      onStdout: (text) => texts.push(text),
      onStderr: (text) => errors.push(text),
    });
    expect(await job.done).toEqual({ code: 0, signal: null });
    expect([texts.join(''), errors.join('')]).toEqual(['ü\n', 'more\n']);
  });

  it('that is stopped has time to end by itself', async () => {
    let output = '';
    const job = startJob(...bash('trap "echo bye; exit 5" TERM; echo ready; while :; do sleep 0.05; done'), {
      ...here,
      onStdout: (text) => (output += text),
    });
    await waitUntil('it is ready', () => output.includes('ready'));
    await job.stop(30_000);
    expect(await job.done).toEqual({ code: 5, signal: null });
    expect(output).toBe('ready\nbye\n');
  });

  it('that ignores SIGTERM is killed after the grace, with all that it has started', async () => {
    let output = '';
    const { here, gone } = marked();
    const job = startJob(...bash('trap "" TERM; echo ready; sleep 1000 & sleep 1000'), {
      ...here,
      onStdout: (text) => (output += text),
    });
    await waitUntil('it is ready', () => output.includes('ready'));
    await job.stop(100);
    expect(await job.done).toEqual({ code: null, signal: 'SIGKILL' });
    await gone();
    await job.stop(100);
  });

  it('with a flood of output does not delay timers', async () => {
    let [pieces, most] = [0, 0];
    const timer = setInterval(() => {
      most = Math.max(most, pieces);
      pieces = 0;
    }, 1);
    const job = startJob(...bash('head -c 5000000 /dev/zero'), {
      ...here,
      onStdout: () => {
        pieces += 1;
        for (const until = performance.now() + 3; performance.now() < until;);
      },
    });
    expect(await job.done).toMatchObject({ code: 0 });
    clearInterval(timer);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(3);
  });

  it('is over although a process that has left its group goes on printing', async () => {
    const { here } = marked();
    const job = startJob(...bash('setsid yes & sleep 0.2; exit 4'), here);
    expect(await job.done).toMatchObject({ code: 4 });
  });

  it('ends what has left its group before the rest of the output is read', async () => {
    const { here, gone } = marked();
    const cwd = tempFolder();
    let output = '';
    const outside = 'echo from outside; touch said; exec sleep 1000';
    const job = startJob(...bash(`setsid bash -c "${outside}" & until [ -e said ]; do sleep 0.02; done; exit 4`), {
      ...here,
      cwd,
      onStdout: (text) => (output += text),
      sweep: async () => void (await killByEnvironment('PROCESS_TEST', here.env['PROCESS_TEST'] ?? '')),
    });
    expect(await job.done).toMatchObject({ code: 4 });
    await gone();
    expect(output).toBe('from outside\n');
  });

  it('that could not be started can be stopped', async () => {
    const job = startJob('no-such-program', [], here);
    await job.stop(1000);
    expect(job.pid).toBeUndefined();
    await expect(job.done).rejects.toMatchObject({ code: 'PROCESS_NOT_STARTED' });
  });
});

it('a signal returns whether there was a process', async () => {
  const { stdout } = await run(...bash('echo $$'), here);
  expect(kill(Number(stdout), 0)).toBe(false);
  expect(killGroup(Number(stdout), 'SIGTERM')).toBe(false);
  expect(killGroup(undefined, 'SIGTERM')).toBe(false);
  expect(kill(process.pid, 0)).toBe(true);
});
