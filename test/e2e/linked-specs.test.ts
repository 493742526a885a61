import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, simpleTask } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

/** A task or a colleague can commit such a link: git keeps it, wherever it leads. */
async function link(to: string, ...at: string[]): Promise<void> {
  const file = path.join(project.folder, '.mahabharatha/specs', ...at);
  await mkdir(path.dirname(file), { recursive: true });
  await rm(file, { recursive: true, force: true });
  await symlink(to, file);
  project.commit('a link');
}

const VERBS = [
  ['kurukshetra'],
  ['kurukshetra', '--dry-run'],
  ['kurukshetra', '--resume'],
  ['kurukshetra', '--feature', 'login'],
];

describe('a link in the folder of the specs', () => {
  it.each([
    ['a folder of the user', 'there'],
    ['nothing', 'missing'],
    ['a folder above the repository', '..'],
  ])(
    'that is the folder of a feature and leads to %s is refused, and nothing is read or written there',
    async (_to, name) => {
      await project.write('../outside/there/task-graph.json', '"sesame"');
      await link(path.join(project.outside, name), 'login');
      for (const verb of VERBS) {
        const { exit, stdout, stderr } = await project.cli(...verb);
        expect({ verb, exit }).toEqual({ verb, exit: 2 });
        expect(stderr).toContain(`${path.join(project.folder, '.mahabharatha/specs/login')} is a link`);
        expect(stdout + stderr).not.toContain('sesame');
      }
      expect(await readdir(project.outside)).toEqual(['there']);
      expect(project.git('for-each-ref', 'refs/heads/mahabharatha')).toBe('');
    },
  );

  it.each(['task-graph.json', 'task-graph.yaml'])('that is the task graph itself is refused: %s', async (name) => {
    await project.write('../outside/secret', 'sesame');
    await link(path.join(project.outside, 'secret'), 'login', name);
    for (const verb of VERBS) {
      const { exit, stderr } = await project.cli(...verb);
      expect({ verb, exit }).toEqual({ verb, exit: 2 });
      expect(stderr).toContain(`specs/login/${name} is a link`);
      expect(stderr).not.toContain('sesame');
    }
  });

  it('does not change a run that is resumed', async () => {
    await project.graph('login', [simpleTask('A')]);
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    await link(project.outside, 'login');
    const { exit, stderr } = await project.cli('kurukshetra', '--resume');
    expect(exit).toBe(2);
    expect(stderr).toContain('specs/login is a link');
  });

  it('is no place where init writes its example', async () => {
    for (const name of ['there', 'missing']) {
      await mkdir(path.join(project.outside, 'there'), { recursive: true });
      await link(path.join(project.outside, name), 'example');
      const { exit, stderr } = await project.cli('init');
      expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining('specs/example is a link') });
    }
    expect(existsSync(path.join(project.outside, 'there/task-graph.json'))).toBe(false);
    expect(existsSync(path.join(project.outside, 'missing'))).toBe(false);
  });

  it('is shown by doctor, and keeps no other feature from being built', async () => {
    await project.write('../outside/there/task-graph.json', '"sesame"');
    await link(path.join(project.outside, 'there'), 'planted');
    await project.graph('login', [simpleTask('A')]);
    const { stdout } = await project.cli('doctor');
    expect(stdout).toMatch(/✗ feature planted +.*specs\/planted is a link/);
    expect(stdout).not.toContain('sesame');
    expect((await project.cli('kurukshetra')).exit).toBe(0);
  });
});
