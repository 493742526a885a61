import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { eventsSoFar, killIfThere, sees } from '../support/chaos.ts';
import { inContainers } from '../support/container-scene.ts';

const LEFT = 'mkdir -p ignored; for place in ignored ~ /tmp; do echo left > $place/left; done; setsid sleep 98765 &';
const NOTHING_LEFT =
  'for place in ignored ~ /tmp; do test ! -e $place/left || exit 1; done; ! grep -lzx 98765 /proc/[0-9]*/cmdline';

inContainers(
  'the verification of a task in a container of its own',
  (scene) => {
    it('sees nothing that its agent has left running or lying there', async () => {
      const { project } = scene;
      const task = { id: 'A', create: ['a.txt'], run: `${LEFT}\necho a > a.txt` };
      await project.graph('login', [{ ...task, verify: NOTHING_LEFT }]);
      const { exit, stdout } = await project.cli('kurukshetra', '--workers', '1');
      expect(exit, stdout).toBe(0);
      expect((await project.cli('logs', '--task', 'A')).stdout).toMatch(/verification of [0-9a-f]{12}: for place/);
    });

    it.each(['SIGINT', 'SIGKILL'] as const)(
      'is done again after %s, and its agent is not asked again',
      async (signal) => {
        const { project } = scene;
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
      const { project } = scene;
      await scene.configure('retry: { attempts: 1 }\n');
      const task = { id: 'A', create: ['a.txt'], run: 'echo a > a.txt' };
      await project.graph('login', [{ ...task, verify: 'sleep 6' }]);
      const live = project.start('kurukshetra', '--workers', '1');
      const logs = [0, 1].map((number) => path.join(project.folder, `.mahabharatha/logs/login/worker-${number}.jsonl`));
      await sees(live, () =>
        logs.some((log) => existsSync(log) && readFileSync(log, 'utf8').includes('verification of')),
      );
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
      const { project } = scene;
      const given = await project.read('.mahabharatha/config.yaml');
      await project.config(given.replace('  container:\n', '  container:\n    verification: same-container\n'));
      const verify = 'for place in ignored ~ /tmp; do test -e $place/left || exit 1; done';
      await project.graph('login', [{ id: 'A', create: ['a.txt'], run: `${LEFT}\necho a > a.txt`, verify }]);
      const { exit, stdout } = await project.cli('kurukshetra', '--workers', '1');
      expect(exit, stdout).toBe(0);
    });
  },
  { prepare: (project) => project.write('.gitignore', 'ignored/\n').then(() => project.commit('ignored files')) },
);
