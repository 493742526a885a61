import { existsSync, statSync } from 'node:fs';
import { chmod, mkdir, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { atTerminal, whyNoTerminal } from '../support/at-terminal.ts';
import type { AtTerminal } from '../support/at-terminal.ts';
import { createProject, simpleTask as task, waitFor } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject({ trust: 'as typed', env: { TERM: 'xterm' } });
  await project.graph('login', [task('A')]);
});
afterEach(() => project.remove());

const CONFIG = 'workers:\n  count: 2\n  setup: touch "$OUTSIDE/ran"\n';
const ask = (): AtTerminal => atTerminal(project, ['kurukshetra', '--mode', 'subprocess']);
const ran = (): boolean => existsSync(path.join(project.outside, 'ran'));
const approvals = (): string => path.join(project.env['HOME'] ?? '', '.local/state/mahabharatha/approved');

const inContainers = (...args: string[]): ReturnType<TestProject['cli']> =>
  project.cli('kurukshetra', '--mode', 'container', ...args);
const npmrc = (...hosts: string[]): Promise<void> =>
  project.write('.npmrc', hosts.map((host, at) => `@s${at}:registry=https://me:sesame@${host}/x?sesame\n`).join(''));

describe('settings of a repository', () => {
  it('are not obeyed before they are approved on this machine: the run is refused and shows them', async () => {
    await project.config(CONFIG);

    const run = await project.cli('kurukshetra');
    const json = await project.cli('kurukshetra', '--json');

    expect(run.exit).toBe(2);
    for (const words of ['.mahabharatha/config.yaml is new', '+   setup: touch "$OUTSIDE/ran"', '--trust-config'])
      expect(run.stderr).toContain(words);
    expect(JSON.parse(json.stdout)).toMatchObject({ type: 'error', code: 'CONFIG_NOT_TRUSTED', exit: 2 });
    expect(ran()).toBe(false);
    await expect(project.state()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('are approved once, and asked for again when they have changed, also by a merge and when a run is resumed', async () => {
    await project.config(CONFIG);
    expect((await project.cli('kurukshetra', '--trust-config')).exit).toBe(0);
    await rm(path.join(project.outside, 'ran'));
    expect((await project.cli('cleanup', '--yes')).exit).toBe(0);
    // The task names the file, and its person merges without a look.
    const harmful = `${CONFIG}gates: [{ name: g, command: touch "$OUTSIDE/ran" }]\n`;
    project.commit('settings');
    await project.graph('login', [
      { id: 'A', modify: ['.mahabharatha/config.yaml'], run: `printf '%s' '${harmful}' > .mahabharatha/config.yaml` },
    ]);
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    expect((await project.cli('merge')).exit).toBe(0);
    await rm(path.join(project.outside, 'ran'));

    await project.graph('next', [task('B')]);
    for (const args of [['login', '--resume'], ['next']]) {
      const refused = await project.cli('kurukshetra', '--feature', ...args);
      expect(refused.exit).toBe(2);
      expect(refused.stderr).toContain('.mahabharatha/config.yaml has changed');
      expect(refused.stderr).toContain('+ gates: [{ name: g, command: touch "$OUTSIDE/ran" }]');
      expect(refused.stderr).not.toContain('+   count: 2');
    }
    expect(ran()).toBe(false);
  });

  it.each([
    ['Dockerfile', 'is new'],
    ['docker/tools/run.sh', 'is new'],
  ])('are also what an image is made from: %s', async (file, what) => {
    await project.write(`.mahabharatha/${file}`, 'FROM mahabharatha-worker\nRUN touch /planted\n');
    for (const verb of ['kurukshetra', 'build']) {
      const { exit, stderr } = await project.cli(verb);
      expect({ verb, exit }).toEqual({ verb, exit: 2 });
      expect(stderr).toContain(`.mahabharatha/${file} ${what}`);
      expect(stderr).toContain('+ RUN touch /planted');
    }
  });

  it('that are removed are a change too: what they forbade would be allowed', async () => {
    await project.config('workers: { container: { network: none } }\n');
    expect((await project.cli('kurukshetra', '--trust-config')).exit).toBe(0);
    await rm(path.join(project.folder, '.mahabharatha/config.yaml'));
    const { exit, stderr } = await project.cli('kurukshetra', '--resume');
    expect(exit).toBe(2);
    expect(stderr).toContain('.mahabharatha/config.yaml is gone');
  });

  it('need no approval when there are none, or when init has just written them', async () => {
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    expect((await project.cli('init')).exit).toBe(0);
    expect((await project.cli('kurukshetra', '--feature', 'example')).exit).toBe(0);
  });

  it('that were there before init are not approved by it', async () => {
    await project.config(CONFIG);
    expect((await project.cli('init')).exit).toBe(0);
    expect((await project.cli('kurukshetra', '--feature', 'login')).exit).toBe(2);
  });

  it('are examined without a question: a dry run and doctor say what a run will ask for', async () => {
    await project.config(CONFIG);
    const dry = await project.cli('kurukshetra', '--dry-run');
    expect(dry.exit).toBe(0);
    expect(dry.stderr).toContain('note: a run will ask for your approval first: .mahabharatha/config.yaml is new');
    expect((await project.cli('doctor')).stdout).toContain('.mahabharatha/config.yaml is new');
    expect(existsSync(approvals())).toBe(false);
  });

  it('that name a program are not obeyed by doctor either: it starts the program once they are approved', async () => {
    const agent = path.join(project.folder, 'agent.sh');
    await project.write('agent.sh', '#!/bin/sh\ntouch "$OUTSIDE/ran"\necho 9.9.9\n');
    await chmod(agent, 0o755);
    await project.config(`workers: { mode: subprocess }\nclaude: { command: ${agent} }\n`);
    expect((await project.cli('doctor')).stdout).toContain('.mahabharatha/config.yaml is new');
    expect(ran()).toBe(false);
    expect((await project.cli('kurukshetra', '--trust-config')).exit).toBe(0);
    await project.cli('doctor');
    expect(ran()).toBe(true);
  });

  it('need an approval for serve also in a folder that is no repository, say of an archive', async () => {
    project.env['DOCKER_HOST'] = 'unix:///nonexistent/docker.sock';
    await rm(path.join(project.folder, '.git'), { recursive: true });
    await npmrc('one.example.org');
    expect((await project.cli('serve')).exit).toBe(4);
    await project.config('serve: { cors: ["https://example.org"] }\n');
    const refused = await project.cli('serve');
    expect(refused.exit).toBe(2);
    expect(refused.stderr).toContain('.mahabharatha/config.yaml is new');
    expect(refused.stderr).toContain('+ serve: { cors: ["https://example.org"] }');
    expect((await project.cli('serve', '--trust-config')).exit).toBe(4);
    expect((await project.cli('serve')).exit).toBe(4);
  });

  describe('are also the registries of .npmrc, which workers in containers may then reach', () => {
    beforeEach(async () => {
      // The approval comes first.
      project.env['DOCKER_HOST'] = 'unix:///nonexistent/docker.sock';
      await npmrc('one.example.org');
    });

    it('asked for when there is one more, with its host alone, and never again when there are fewer', async () => {
      const first = await inContainers();
      expect([first.exit, first.stderr]).toEqual([
        2,
        expect.stringContaining('.npmrc lets workers reach 1 more registry'),
      ]);
      expect(first.stderr).toContain('+ https://one.example.org');
      expect(first.stderr).not.toContain('sesame');
      expect((await inContainers('--trust-config')).exit).toBe(4);
      expect((await inContainers()).exit).toBe(4);
      await npmrc('one.example.org', 'two.example.org:8443');
      const second = await inContainers();
      expect([second.exit, second.stderr]).toEqual([2, expect.stringContaining('+ https://two.example.org:8443')]);
      expect(second.stderr).not.toContain('+ https://one.example.org');
      await npmrc();
      expect((await inContainers()).exit).toBe(4);
    });

    it('and not asked for where nothing follows that file', async () => {
      expect((await project.cli('kurukshetra', '--mode', 'subprocess')).exit).toBe(0);
      await project.config('workers: { container: { allow: [anthropic] } }\n');
      const { exit, stderr } = await inContainers();
      expect([exit, stderr]).toEqual([2, expect.not.stringContaining('registry')]);
    });
  });

  it('have their approvals where only the user can read them, one for each working tree', async () => {
    await project.config(CONFIG);
    expect((await project.cli('kurukshetra', '--trust-config')).exit).toBe(0);
    expect(statSync(approvals()).mode & 0o777).toBe(0o700);

    project.commit('settings');
    const other = path.join(project.outside, 'tree');
    project.git('worktree', 'add', '--quiet', other);
    expect((await project.at(other).cli('kurukshetra', '--resume')).stderr).toContain(
      '.mahabharatha/config.yaml is new',
    );
  });

  it('are not approved by a file that another user may have written', async () => {
    await project.config(CONFIG);
    expect((await project.cli('kurukshetra', '--trust-config')).exit).toBe(0);
    const [above, mine] = [path.dirname(approvals()), path.join(project.outside, 'approved')];
    await rename(approvals(), mine);
    await symlink(mine, approvals());
    expect((await project.cli('kurukshetra', '--resume')).stderr).toContain('.mahabharatha/config.yaml is new');
    await rm(approvals());
    await rename(mine, approvals());
    await chmod(above, 0o777);
    expect((await project.cli('kurukshetra', '--resume')).stderr).toContain('.mahabharatha/config.yaml is new');
    await chmod(above, 0o700);
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
  });

  it('are never read through a link: it could lead to a file of the user, which would be shown', async () => {
    await project.write('../home/secret', 'sesame\n');
    await mkdir(path.join(project.folder, '.mahabharatha'), { recursive: true });
    await symlink('../../home/secret', path.join(project.folder, '.mahabharatha/config.yaml'));
    const file = await project.cli('kurukshetra', '--trust-config');
    expect({ exit: file.exit, shown: file.stderr.includes('sesame') }).toEqual({ exit: 4, shown: false });

    await rm(path.join(project.folder, '.mahabharatha/config.yaml'));
    await rename(path.join(project.folder, '.mahabharatha'), path.join(project.folder, 'planted'));
    await symlink('planted', path.join(project.folder, '.mahabharatha'));
    for (const verb of ['kurukshetra', 'status', 'merge']) {
      const { exit, stderr } = await project.cli(verb);
      expect({ verb, exit }).toEqual({ verb, exit: 2 });
      expect(stderr).toContain('.mahabharatha is a link');
    }
  });
});

describe.skipIf(whyNoTerminal !== '')(`settings of a repository, at a terminal${whyNoTerminal}`, () => {
  it.each([
    ['y', 0],
    ['n', 2],
    ['', 2],
  ])('are shown with a question; the answer "%s" ends with exit %i', async (answer, exit) => {
    await project.config(`${CONFIG}# \u202Edesrever\n`);
    const run = ask();
    await waitFor('the question', () => run.output().includes('Obey them from now on?'));
    expect(run.output()).toContain('+   setup: touch "$OUTSIDE/ran"');
    expect(run.output()).toContain('<U+202E>desrever');
    expect(ran()).toBe(false);
    run.type(`${answer}\n`);

    expect(await run.end).toBe(exit);
    expect(ran()).toBe(exit === 0);
  });

  it('that change while the question is open are not obeyed: the answer is for what was shown', async () => {
    await project.config(CONFIG);
    const run = ask();
    await waitFor('the question', () => run.output().includes('Obey them from now on?'));
    await project.write('.mahabharatha/Dockerfile', 'FROM mahabharatha-worker\nRUN touch /planted\n');
    run.type('y\n');

    expect(await run.end).toBe(2);
    expect(run.output()).toContain('+ RUN touch /planted');
    expect(ran()).toBe(false);
    const next = await project.cli('kurukshetra', '--mode', 'subprocess');
    expect(next.stderr).toContain('.mahabharatha/Dockerfile is new');
    expect(next.stderr).not.toContain('.mahabharatha/config.yaml');
  });

  it('are not asked for twice', async () => {
    await project.config(CONFIG);
    const run = ask();
    await waitFor('the question', () => run.output().includes('Obey them from now on?'));
    run.type('yes\n');
    expect(await run.end).toBe(0);
    expect((await project.cli('kurukshetra', '--resume')).stdout).toContain('complete');
  });
});
