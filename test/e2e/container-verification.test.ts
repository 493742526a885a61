import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventsSoFar, killIfThere, sees } from '../support/chaos.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

/** Ways to make `bash check.sh` pass that is red in the commit, and to leave no change of it to be committed. */
const FOOLED: Readonly<Record<string, string>> = {
  STAT: 'touch -r check.sh /tmp/t; printf "exit 0 # red\\n" > check.sh; touch -r /tmp/t check.sh; git update-index --assume-unchanged check.sh',
  SKIP: 'git update-index --skip-worktree check.sh; echo exit 0 > check.sh',
  OBJECT:
    'o=$(git rev-parse HEAD:check.sh); h=$(printf "exit 0 # red\\n" | git hash-object -w --stdin); ' +
    'mkdir -p /gitdir/objects/${o:0:2}; cp /gitdir/objects/${h:0:2}/${h:2} /gitdir/objects/${o:0:2}/${o:2}; rm check.sh; git checkout check.sh; ' +
    'git update-index --assume-unchanged check.sh',
  LATER:
    'git update-index --assume-unchanged check.sh; setsid sh -c "while :; do echo exit 0 > check.sh; sleep 0.01; done" > /dev/null 2>&1 &',
  HOME: 'echo "bash() { true; }" > ~/.bashrc; mkdir -p ~/bin; printf "#!/bin/sh\\n" > ~/bin/bash; chmod +x ~/bin/bash',
  HOOK: 'printf "#!/bin/sh\\necho exit 0 > check.sh\\n" > /gitdir/hooks/post-checkout; chmod +x /gitdir/hooks/post-checkout; git config core.fsmonitor /gitdir/hooks/post-checkout',
  REPORT: `cat > /tmp/claim.mjs << 'END'
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
const file = '/run/mahabharatha/outbox/status.json';
for (const end = Date.now() + 1500; Date.now() < end; ) {
  const status = JSON.parse(readFileSync(file, 'utf8'));
  const result = { kind: 'verify', attempt: 'REPORT.1@verification', ok: true, detail: '', output: '', error: null };
  writeFileSync(file + '.x', JSON.stringify({ ...status, beat: status.beat + 1, result }));
  renameSync(file + '.x', file);
}
END
setsid node /tmp/claim.mjs > /dev/null 2>&1 &`,
};

const LEFT = 'mkdir -p ignored; for place in ignored ~ /tmp; do echo left > $place/left; done; setsid sleep 98765 &';
const NOTHING_LEFT =
  'for place in ignored ~ /tmp; do test ! -e $place/left || exit 1; done; ! grep -lzx 98765 /proc/[0-9]*/cmdline';

describe.skipIf(docker.why !== '')(`the verification of a task in a container of its own${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  beforeEach(async () => {
    project = await createContainerProject();
    await project.write('.gitignore', 'ignored/\n');
    await project.write('check.sh', 'exit 1 # red\n');
    project.commit('a check');
  });
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });
  const configure = async (more: string): Promise<void> => {
    await project.config(`${await project.read('.mahabharatha/config.yaml')}${more}`);
  };
  const outcomes = async (): Promise<Record<string, unknown>> => {
    const { tasks } = await project.state();
    return Object.fromEntries(Object.entries(tasks).map(([id, { attempts }]) => [id, attempts.at(-1)?.outcome]));
  };

  it('gives the honest answer, whatever the task has done', async () => {
    await configure('retry: { attempts: 1 }\n');
    const tasks = Object.entries(FOOLED).map(([id, attack]) => ({
      id,
      create: [`${id}.txt`],
      run: `${attack}\necho done > ${id}.txt`,
      verify: 'bash check.sh',
    }));
    const honest = { id: 'HONEST', create: ['h.txt'], run: 'echo h > h.txt', verify: 'test "$(cat h.txt)" = h' };
    await project.graph('login', [...tasks, honest]);
    const { stdout } = await project.cli('kurukshetra', '--workers', '4');
    const red = Object.fromEntries(Object.keys(FOOLED).map((id) => [id, 'verification-failed']));
    expect(await outcomes(), stdout).toEqual({ ...red, HONEST: 'accepted' });
    expect(project.git('ls-tree', '--name-only', 'mahabharatha/login/integration')).not.toContain('STAT');
  });

  it('sees nothing that its agent has left running or lying there', async () => {
    const task = { id: 'A', create: ['a.txt'], run: `${LEFT}\necho a > a.txt` };
    await project.graph('login', [{ ...task, verify: NOTHING_LEFT }]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '1');
    expect(exit, stdout).toBe(0);
    expect((await project.cli('logs', '--task', 'A')).stdout).toMatch(/verification of [0-9a-f]{12}: for place/);
  });

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'is done again after %s, and its agent is not asked again',
    async (signal) => {
      const task = { id: 'A', create: ['a.txt'], run: 'echo a > a.txt' };
      await project.graph('login', [{ ...task, verify: 'sleep 2; test -s a.txt' }]);
      const live = project.start('kurukshetra', '--workers', '1');
      await sees(live, () => eventsSoFar(project).some(({ type }) => type === 'verification-started'));
      killIfThere(live.pid, signal);
      await live.end;
      const { exit, stdout } = await project.cli('kurukshetra', '--resume');
      expect(exit, stdout).toBe(0);
      const { attempts, losses } = (await project.state()).tasks['A'] ?? {};
      expect([attempts?.map(({ outcome }) => outcome), losses]).toEqual([['accepted'], 0]);
    },
  );

  it('is the one that stands in the graph when the run is resumed: what an earlier one answers does not count', async () => {
    await configure('retry: { attempts: 1 }\n');
    const task = { id: 'A', create: ['a.txt'], run: 'echo a > a.txt' };
    await project.graph('login', [{ ...task, verify: 'sleep 6' }]);
    const live = project.start('kurukshetra', '--workers', '1');
    const log = path.join(project.folder, '.mahabharatha/logs/login/worker-0.jsonl');
    await sees(live, () => existsSync(log) && readFileSync(log, 'utf8').includes('verification of'));
    killIfThere(live.pid, 'SIGKILL');
    await live.end;
    await project.graph('login', [{ ...task, verify: 'echo edited; false' }]);
    const { exit, stdout } = await project.cli('kurukshetra', '--resume');
    expect(exit, stdout).toBe(1);
    const { attempts } = (await project.state()).tasks['A'] ?? {};
    expect(attempts).toMatchObject([
      { outcome: 'verification-failed', detail: expect.stringContaining('echo edited') },
    ]);
  });

  it('sees all of it where the configuration says so', async () => {
    await configure('');
    const given = await project.read('.mahabharatha/config.yaml');
    await project.config(given.replace('  container:\n', '  container:\n    verification: same-container\n'));
    const verify = 'for place in ignored ~ /tmp; do test -e $place/left || exit 1; done';
    await project.graph('login', [{ id: 'A', create: ['a.txt'], run: `${LEFT}\necho a > a.txt`, verify }]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '1');
    expect(exit, stdout).toBe(0);
  });
});
