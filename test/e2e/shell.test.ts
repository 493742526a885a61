import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { atTerminal, whyNoTerminal } from '../support/at-terminal.ts';
import { findByEnvironment } from '../../src/lib/index.ts';
import { killIfThere } from '../support/chaos.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { simpleTask, waitFor } from '../support/project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const LIVE =
  'echo from the task > seen.txt; echo mine > ~/of-the-task; env | sort > /tmp/task-env; until [ -e /tmp/go ]; do sleep 0.05; done; echo A > A.txt; rm seen.txt';

describe.skipIf(docker.why !== '')(`a shell in the container of a task${whySkipped}`, () => {
  let project: ContainerProject;
  let live: ReturnType<ContainerProject['start']> | undefined;
  beforeAll(buildWorkerImage);
  beforeEach(async () => {
    live = undefined;
    project = await createContainerProject({
      env: { TERM: 'xterm', GIVEN: 'given', ANTHROPIC_API_KEY: 'sk-secret-key' },
    });
  });
  afterEach(async () => {
    if (live !== undefined) killIfThere(live.pid, 'SIGINT');
    await live?.end;
    expect(project.leftovers()).toEqual([]);
    expect(folders()).toEqual([]);
    await project.remove();
  });
  const folders = (): string[] => {
    const all = path.join(project.env['HOME'] ?? '', '.local/state/mahabharatha/runs/shells');
    return existsSync(all) ? readdirSync(all) : [];
  };
  const shell = (...args: string[]) => project.cli('shell', ...args);
  const setUp = (command: string) =>
    project.config(`workers: { mode: container, setup: '${command}', container: { network: none } }\n`);
  const refused = async (...args: string[]): Promise<string> => {
    const { exit, stderr } = await shell(...args);
    expect(exit, stderr).toBeGreaterThan(1);
    return stderr;
  };
  const refs = (): string => project.git('for-each-ref');

  /** A run whose task FAILED has failed with a commit, and NOTHING without one. */
  const failedRun = async (): Promise<void> => {
    await project.config('workers: { mode: container, container: { network: none } }\nretry: { attempts: 1 }\n');
    await project.graph('login', [
      simpleTask('FAILED', { run: 'echo half > FAILED.txt', verify: 'false' }),
      simpleTask('NOTHING', { run: 'exit 3' }),
      simpleTask('LATER', { level: 2, dependencies: ['FAILED'] }),
    ]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '2');
    expect(exit, stdout).toBe(1);
  };

  const liveRun = async (): Promise<void> => {
    await project.graph('login', [simpleTask('A', { run: LIVE })]);
    live = project.start('kurukshetra', '--workers', '1');
    await waitFor(
      'the task is under way',
      async () => (await shell('A', '--', 'test', '-e', '/tmp/task-env')).exit === 0,
    );
  };

  it('is where the task is while it is worked on: its files, user and variables, and it goes on', async () => {
    await liveRun();
    const mine = await shell(
      'A',
      '--',
      'sh',
      '-c',
      'cat seen.txt ~/of-the-task; id -u; pwd; env | sort > /tmp/my-env; diff /tmp/task-env /tmp/my-env',
    );
    const [seen, home, uid, folder, ...different] = mine.stdout.trim().split('\n');
    expect([seen, home, folder]).toEqual(['from the task', 'mine', '/workspace']);
    expect(uid).not.toBe('0');
    // The shells between are others.
    const names = different.map((text) => text.replace(/=.*/, '')).filter((text) => /^[<>] (?!SHLVL|_)/.test(text));
    expect(names.toSorted()).toEqual(['< MAHABHARATHA_CHILD', '> MAHABHARATHA_SHELL']);
    expect((await shell('0', '--', 'touch', '/tmp/go')).exit).toBe(0);
    const { exit, stdout } = (await live?.end) ?? {};
    expect(exit, stdout).toBe(0);
  });

  it('is on the commit of a failed attempt, and nothing of it comes back', async () => {
    await failedRun();
    const before = refs();
    const script =
      'cat FAILED.txt; git log -1 --format=%s; echo more > FAILED.txt; git commit -qam more; git status --short; exit 7';
    const { exit, stdout, stderr } = await shell('FAILED', '--', 'sh', '-c', script);
    expect(stderr).toMatch(/fresh container.*attempt 1 of FAILED \(verification-failed\)/);
    expect(stdout).toBe('half\nFAILED: Task FAILED\n');
    expect(exit).toBe(7);
    expect(refs()).toBe(before);
    expect((await shell('FAILED', '--', 'cat', 'FAILED.txt')).stdout).toBe('half\n');
  });

  it('is on what the task starts from when there is no commit, and says so', async () => {
    await failedRun();
    const nothing = await shell('NOTHING', '--', 'ls');
    expect([nothing.stdout, nothing.stderr]).toEqual(['README.md\n', expect.stringContaining('has left no commit')]);
    const later = await shell('LATER', '--', 'ls');
    expect([later.stdout, later.stderr]).toEqual(['README.md\n', expect.stringContaining('has not begun')]);
  });

  it('reads what to do from its input when there is no terminal', async () => {
    await failedRun();
    const { exit, stdout } = await project.piped('cat FAILED.txt\nexit 5\n', 'shell', 'FAILED');
    expect([stdout, exit]).toEqual(['half\n', 5]);
    const counted = await project.piped('x'.repeat(3_000_000), 'shell', 'FAILED', '--', 'wc', '-c');
    expect(counted.stdout).toBe('3000000\n');
    const { exit: missing, stderr } = await shell('FAILED', '--', 'no-such-program', '--json');
    expect([missing, stderr]).toEqual([127, expect.stringContaining('no-such-program: not found')]);
  });

  it('has the limits and the locks of a task', async () => {
    await failedRun();
    const probe =
      'ulimit -f; grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/self/status | tr "\\n" " "; touch /etc/x || echo read-only; ' +
      'ls /sys/class/net; cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2> /dev/null; env | grep -c sk-secret';
    const { stdout } = await shell('FAILED', '--', 'bash', '-c', probe);
    expect(stdout.split('\n')).toEqual([
      String(10 * 1024 ** 2),
      expect.stringMatching(/CapEff:\s+0000000000000000 NoNewPrivs:\s+1 Seccomp:\s+2 read-only/),
      'lo',
      String(4 * 1024 ** 3),
      '0',
      '',
    ]);
  });

  it('has the way out of a task, and nobody reads its output any longer than the user', async () => {
    await failedRun();
    await project.config('workers: { mode: container, container: { network: allowlist, allow: ["example.org"] } }\n');
    const ask =
      'test -n "$HTTPS_PROXY" && exec 3<> /dev/tcp/127.0.0.1/3128 && printf "CONNECT example.com:443 HTTP/1.1\\r\\nHost: example.com\\r\\n\\r\\n" >&3 && head -1 <&3';
    const { stdout } = await shell('--trust-config', 'FAILED', '--', 'bash', '-c', ask);
    expect(stdout).toMatch(/refused example.com:443: not on the allowlist/);
    const endless = project.start('shell', 'FAILED', '--', 'yes');
    await waitFor('it prints', () => endless.output().startsWith('y\n') || endless.output().includes('\ny\n'));
    endless.child.stdout?.destroy();
    expect((await endless.end).exit).toBe(141);
  });

  it('starts from the snapshot of its task, and without the set-up where that fails', async () => {
    await failedRun();
    await setUp('echo tool > tool.txt; echo set up');
    const trusted = ['--trust-config', 'FAILED', '--', 'cat', 'tool.txt', 'FAILED.txt'];
    expect((await shell(...trusted)).stdout).toBe('tool\nhalf\n');
    await setUp('exit 9');
    const { stdout, stderr } = await shell('--trust-config', 'FAILED', '--', 'cat', 'FAILED.txt');
    expect([stdout, stderr]).toEqual(['half\n', expect.stringMatching(/without the set-up, which fails.*exit 9/)]);
  });

  it.each(['SIGINT', 'SIGHUP', 'SIGKILL'] as const)('ends with all it has started after %s', async (signal) => {
    await failedRun();
    const running = project.start('shell', 'FAILED', '--', 'sh', '-c', 'setsid sleep 4321 & echo begun; sleep 4322');
    await waitFor('the program runs', () => running.output().includes('begun'));
    expect(project.leftovers()).toEqual([expect.stringMatching(/^mahabharatha-shell-/)]);
    killIfThere(running.pid, signal);
    const { exit } = await running.end;
    if (signal !== 'SIGKILL') expect(exit).toBe(signal === 'SIGINT' ? 130 : 129);
    await waitFor('nothing is left', () => project.leftovers().length === 0 && folders().length === 0);
  });

  it('in a live container ends with all it has started, and the task goes on', async () => {
    await liveRun();
    const count = async (): Promise<string> =>
      (
        await shell(
          'A',
          '--',
          'sh',
          '-c',
          'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -o "sleep 432[12]" | sort | uniq | wc -l',
        )
      ).stdout.trim();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const running = project.start('shell', 'A', '--', 'sh', '-c', 'setsid sleep 4321 & echo begun; sleep 4322');
      await waitFor('the program runs', () => running.output().includes('begun'));
      await waitFor('both run', async () => (await count()) === '2');
      killIfThere(running.pid, signal);
      await running.end;
      await waitFor('nothing of it runs', async () => (await count()) === '0');
    }
    const waiting = project.start('shell', 'A', '--', 'sleep', '4323');
    await waitFor(
      'it runs',
      async () =>
        (await shell('A', '--', 'sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -q "sleep 432[3]"'))
          .exit === 0,
    );
    expect((await shell('A', '--', 'touch', '/tmp/go')).exit).toBe(0);
    const { exit, stderr } = await waiting.end;
    expect([exit, stderr]).toEqual([137, expect.stringContaining('when its agent has ended')]);
    expect((await live?.end)?.exit).toBe(0);
  });

  it('whose command and cleanup process are killed is found and removed by cleanup', async () => {
    await failedRun();
    const running = project.start('shell', 'FAILED', '--', 'sh', '-c', 'echo begun; sleep 4322');
    await waitFor('the program runs', () => running.output().includes('begun'));
    const [name = ''] = project.leftovers();
    expect((await project.cli('cleanup', '--dry-run')).stdout).not.toContain(name);
    const sweepers = await findByEnvironment(
      'MAHABHARATHA_SWEEPER',
      `${name.replace('mahabharatha-shell-', '')}.${running.pid}`,
    );
    expect(sweepers).toHaveLength(1);
    for (const pid of [...sweepers, running.pid]) killIfThere(pid, 'SIGKILL');
    await running.end;
    expect(folders()).toHaveLength(1);
    expect((await project.cli('cleanup', '--dry-run')).stdout).toContain(`container ${name}`);
    expect((await project.cli('cleanup', '--yes')).stdout).toContain('Removed.');
  });

  it('is refused with what to do next where there is no place for it', async () => {
    await failedRun();
    expect(await refused('NONE')).toMatch(/no task "NONE" in this run[^]*Tasks: FAILED/);
    expect(await refused('7')).toMatch(/no worker 7[^]*Workers of this run: 0, 1/);
    expect(await refused('0')).toMatch(/Worker 0 works on nothing now[^]*mahabharatha shell TASK/);
    expect(await refused()).toMatch(/target/);
    project.env['DOCKER_HOST'] = 'unix:///nowhere/docker.sock';
    expect(await refused('FAILED')).toMatch(/nowhere\/docker.sock[^]*Docker/);
    delete project.env['DOCKER_HOST'];
    await project.graph('other', [simpleTask('A')]);
    expect(await refused('--feature', 'other', 'A')).toMatch(/no run of "other"/);
    const { exit } = await project.cli('kurukshetra', '--feature', 'other', '--mode', 'subprocess');
    expect(exit).toBe(0);
    expect(await refused('--feature', 'other', 'A')).toMatch(
      /works in subprocesses[^]*mahabharatha-worker-0'|status --feature other/,
    );
    await project.config('workers: { mode: container, setup: curl }\n');
    expect(await refused('--feature', 'login', 'FAILED')).toMatch(/not approved[^]*--trust-config/);
  });

  it.skipIf(whyNoTerminal !== '')(`has the user's terminal${whyNoTerminal}`, async () => {
    await failedRun();
    const session = atTerminal(project, ['shell', 'FAILED'], { columns: 77 });
    const says = (text: string | RegExp) =>
      waitFor(`it says ${String(text)}`, () =>
        typeof text === 'string' ? session.output().includes(text) : text.test(session.output()),
      );
    await says('/workspace$ ');
    session.type('echo "$(tput cols 2> /dev/null || stty size) $TERM"\r');
    await says(/77.* xterm/);
    session.type('stty -a | grep -o -- -opost; printf "down\\nhere"; cat\r');
    await says(/down\r\nhere/);
    const prompts = (): number => session.output().split('/workspace$ ').length;
    const before = prompts();
    // One that comes before `cat` is in the foreground does not end it.
    await waitFor('cat is interrupted', () => {
      session.type('\u0003');
      return prompts() > before;
    });
    await says('^C');
    session.resize(99, 33);
    await waitFor('the size has reached the program', () => {
      session.type('stty size\r');
      return session.output().includes('33 99');
    });
    session.type('exit 6\r');
    expect(await session.end).toBe(6);
  });

  it.skipIf(whyNoTerminal !== '')(`ends with the user's terminal${whyNoTerminal}`, async () => {
    await failedRun();
    const session = atTerminal(project, ['shell', 'FAILED']);
    await waitFor('its prompt', () => session.output().includes('/workspace$ '));
    session.hangUp();
    await session.end;
    await waitFor('nothing is left', () => project.leftovers().length === 0 && folders().length === 0);
  });
});
