import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { findByEnvironment } from '../../src/lib/index.ts';
import { killIfThere } from '../support/chaos.ts';
import { inContainers } from '../support/container-scene.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Stops every process that it may, but itself, and goes on. */
const FREEZE = `
for pid in $(ls /proc | grep '^[0-9]*$'); do [ "$pid" = "$$" ] || kill -STOP "$pid" 2>/dev/null; done
echo frozen; for (( ; ; )); do :; read -r -t 1 -u 9; done 9<> <(:)`;

inContainers(
  'a task that stops its worker',
  (scene) => {
    it('ends with its container, also when orchestrator and cleanup process are gone', async () => {
      const { project } = scene;
      await project.graph('login', [{ id: 'A', create: ['a.txt'], run: FREEZE }]);
      const live = project.start('kurukshetra', '--workers', '1');
      const stopped = (): boolean => project.containers().some(({ Id }) => isFrozen(Id));
      await waitUntil('the worker is stopped', stopped);
      for (const pid of await findByEnvironment('HOME', project.env['HOME'] ?? '')) killIfThere(pid, 'SIGKILL');
      await live.end;
      await waitUntil('its container is gone', () => project.containers().length === 0);
      const { exit, stdout } = await project.cli('stop');
      expect(exit, stdout).toBe(0);
    });
  },
  { workers: 'lease: 3s' },
);

function isFrozen(id: string): boolean {
  // A spare may not run yet.
  const { stdout } = spawnSync('docker', ['top', id, '-eo', 'pid,stat,args'], { encoding: 'utf8' });
  const lines = stdout.split('\n');
  return lines.some((line) => /^ *\d+ +T/.test(line) && line.includes('/opt/mahabharatha/node'));
}
