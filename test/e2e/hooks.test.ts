import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, simpleTask } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const noted = (name: string): Promise<string> => readFile(path.join(project.outside, name), 'utf8');
const hooks = (lines: Record<string, string>): Promise<void> =>
  project.config(`retry: { attempts: 1 }\nhooks: ${JSON.stringify(lines)}\n`);

describe('hooks', () => {
  it('run with the facts of the run in variables when it has ended, and can merge it', async () => {
    const facts = 'FEATURE STATUS EXIT BRANCH COMMIT TASKS TASKS_DONE HOOK'.split(' ');
    const shown = facts.map((name) => `$MAHABHARATHA_${name}`).join(' ');
    const merge = `"${process.execPath}" "${path.resolve('bin/mahabharatha.js')}" merge --feature "$MAHABHARATHA_FEATURE"`;
    await hooks({
      on_complete: `echo "${shown}" > "$OUTSIDE/facts"; ${merge}`,
      on_failure: 'touch "$OUTSIDE/never"',
    });
    await project.graph('login', [simpleTask('A', { title: '$(touch "$OUTSIDE/title")' })]);
    const run = await project.cli('kurukshetra');
    expect([run.exit, run.stdout]).toEqual([
      0,
      expect.stringMatching(/ {2}hook {5}on_complete is done, after .* s\n$/),
    ]);
    const { integrationTip } = await project.state();
    expect(await noted('facts')).toBe(
      `login complete 0 mahabharatha/login/integration ${integrationTip} 1 1 on_complete\n`,
    );
    expect(await project.read('A.txt')).toBe('A\n');
    const logs = (await project.cli('logs', '--tail', 'all')).stdout;
    expect(logs).toMatch(/run hook {3}Merged: main has everything of "login"/);
    expect(logs).toMatch(/run hook {3}on_complete: exit status 0/);
    for (const name of ['title', 'never']) await expect(noted(name)).rejects.toThrow('ENOENT');
  });

  it('that fail, or take too long, are told, end with all they have started, and change no exit status', async () => {
    await hooks({ on_failure: 'echo "no mail today" >&2; exit 7' });
    await project.graph('login', [simpleTask('A', { run: 'exit 1' })]);
    const run = await project.cli('kurukshetra');
    expect([run.exit, run.stderr]).toEqual([
      1,
      expect.stringContaining('warning: hook on_failure: exit status 7; see: mahabharatha logs --feature login\n'),
    ]);
    expect((await project.cli('logs')).stdout).toContain('no mail today');

    await hooks({ on_failure: '(setsid sleep 4357; touch "$OUTSIDE/late") & sleep 4358', timeout: '1s' });
    const slow = await project.cli('kurukshetra', '--resume', '--json');
    const told = slow.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect([slow.exit, told.at(-1)]).toEqual([
      1,
      expect.objectContaining({ type: 'hook', hook: 'on_failure', problem: 'it was ended after 1 s (hooks.timeout)' }),
    ]);
    await expect(noted('late')).rejects.toThrow('ENOENT');
  });
});
