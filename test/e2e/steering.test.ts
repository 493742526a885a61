import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

/** Each writes what the next run would obey, beside work of its own. */
const ATTACKS = {
  config: 'mkdir -p .mahabharatha; echo "workers: { setup: touch $OUTSIDE/ran }" > .mahabharatha/config.yaml',
  image: 'mkdir -p .mahabharatha; echo "FROM mahabharatha-worker" > .mahabharatha/Dockerfile',
  companion: 'mkdir -p .mahabharatha/docker; echo "touch $OUTSIDE/ran" > .mahabharatha/docker/tool.sh',
  specs: 'mkdir -p .mahabharatha/specs/next; echo "{}" > .mahabharatha/specs/next/task-graph.json',
  letters: 'mkdir -p .MahaBharatha; echo "ownership: off" > .MahaBharatha/config.yaml',
  link: 'mkdir -p planted; echo "ownership: off" > planted/config.yaml; rm -rf .mahabharatha; ln -s planted .mahabharatha',
  file: 'rm -rf .mahabharatha; echo "ownership: off" > .mahabharatha',
  submodule:
    'rm -rf .mahabharatha; git init -q .mahabharatha; git -C .mahabharatha commit -q --allow-empty -m x; ' +
    'printf \'[submodule "x"]\\n\\tpath = .mahabharatha\\n\\turl = ./x\\n\' > .gitmodules',
};

describe('what steers later runs', () => {
  it.each(['enforce', 'warn', 'off'])('belongs to no glob of a task (ownership: %s)', async (ownership) => {
    await project.config(`ownership: ${ownership}\nretry: { attempts: 1 }\n`);
    const attacks = Object.entries(ATTACKS);
    await project.graph(
      'login',
      attacks.map(([id, attack], index) => ({
        id,
        level: index + 1,
        create: ['**'],
        run: `echo 1 > ${id}.txt; ${attack}`,
      })),
    );
    project.commit('settings');

    expect((await project.cli('kurukshetra')).exit).toBe(1);

    const { tasks } = await project.state();
    const outcomes = Object.entries(tasks).map(([id, { attempts }]) => [id, attempts.map(({ outcome }) => outcome)]);
    expect(outcomes).toEqual(attacks.map(([id]) => [id, ['not-owned']]));
    expect(project.git('diff', '--name-only', 'main', 'mahabharatha/login/integration')).toBe('');
  });

  it('may be written by a task that names the file, and a dry run says so', async () => {
    const named = '.mahabharatha/config.yaml';
    await project.graph('login', [
      {
        id: 'A',
        create: ['**', named],
        run: `mkdir -p .mahabharatha; echo "ownership: warn" > ${named}; echo 1 > a.txt`,
      },
    ]);

    const dry = await project.cli('kurukshetra', '--dry-run');
    const run = await project.cli('kurukshetra');

    expect(dry.stderr).toContain(`note: tasks[0].files.create[1]: "${named}" of "A" steers later runs`);
    expect(run.exit).toBe(0);
    expect(project.git('diff', '--name-only', 'main', 'mahabharatha/login/integration')).toBe(`${named}\na.txt\n`);
  });

  it('cannot be claimed by a glob in a task graph', async () => {
    await project.graph('login', [{ id: 'A', create: ['.mahabharatha/**'], run: 'true' }]);
    const { exit, stderr } = await project.cli('kurukshetra', '--dry-run');
    expect(exit).toBe(2);
    expect(stderr).toContain('tasks[0].files.create[0]: ".mahabharatha/**" is a glob over .mahabharatha/');
  });
});
