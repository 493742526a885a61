import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bridgeAddress } from '../support/bridge.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import type { Answer } from '../support/model-messages.ts';
import { scriptByTask, startModelServer } from '../support/model-server.ts';
import type { ModelServer, Reply } from '../support/model-server.ts';
import { waitFor } from '../support/project.ts';
import { REQUIREMENTS } from '../support/requirements-document.ts';
import { withResolvers } from '../support/with-resolvers.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const bash = (command: string): Answer => ({ toolUse: { name: 'Bash', input: { command, description: 'Do it' } } });
const DONE: Answer = { text: 'Done.' };
const writes = (files: Readonly<Record<string, string>>): Answer =>
  bash(
    Object.entries(files)
      .map(
        ([name, text]) =>
          `mkdir -p mahabharatha-answer; cat > mahabharatha-answer/${name} <<'END-OF-ANSWER'\n${text}\nEND-OF-ANSWER\n`,
      )
      .join(''),
  );

/** Node and git are found, and no Claude Code of this machine. */
const withoutClaude = (folders: string): string =>
  folders
    .split(path.delimiter)
    .filter((folder) => !existsSync(path.join(folder, 'claude')))
    .join(path.delimiter);

const task = (id: string, requirement: string, dependencies: string[] = []): object => ({
  id,
  title: `Write ${id}`,
  description: 'With its own name.',
  dependencies,
  files: { create: [`${id}.txt`] },
  requirements: [requirement],
  verification: { command: `grep -q ${id} ${id}.txt` },
});
const graphOf = (...tasks: object[]): string => JSON.stringify({ feature: 'login', version: '2.0', tasks });

describe.skipIf(docker.why !== '')(
  `from an idea to a merged branch, with the real Claude Code in containers${whySkipped}`,
  () => {
    let project: ContainerProject;
    let server: ModelServer;
    beforeAll(buildWorkerImage);
    afterEach(async () => {
      await server.close();
      expect(project.leftovers()).toEqual([]);
      await project.remove();
    });

    async function prepare(replies: Record<string, Reply[]>): Promise<void> {
      server = await startModelServer(scriptByTask(replies), { host: bridgeAddress() });
      project = await createContainerProject({
        env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'sk-ant-made-up' },
        container: 'network: allowlist\nallow: []\n',
      });
    }

    it('init, plan, approve, design, check, kurukshetra, status, logs, merge, cleanup, all in mode auto, with an agent in the image alone', async () => {
      const wrong = graphOf(task('L-1', 'R-001', ['L-9']));
      // The first agent ends when the run was looked at.
      const looked = withResolvers<void>();
      const right = graphOf(task('L-1', 'R-001'), task('L-2', 'R-002'));
      await prepare({
        'PLAN-1': [
          writes({ 'requirements.md': REQUIREMENTS }),
          DONE,
          writes({ 'design.md': '# How', 'task-graph.json': wrong }),
          DONE,
          writes({ 'design.md': '# How', 'task-graph.json': right }),
          DONE,
        ],
        'L-1': [bash('echo L-1 > L-1.txt'), looked.promise.then(() => DONE)],
        'L-2': [bash('echo L-2 > L-2.txt'), DONE],
      });
      const done = async (...args: string[]): Promise<string> => {
        const { exit, stdout, stderr } = await project.cli(...args);
        expect({ args, exit, stderr: exit === 0 ? '' : `${stdout}\n${stderr}` }).toEqual({ args, exit: 0, stderr: '' });
        return stdout;
      };
      const config = '.mahabharatha/config.yaml';
      await project.config((await project.read(config)).replace('mode: container', 'mode: auto'));
      project.env['PATH'] = withoutClaude(project.env['PATH'] ?? '');
      await done('init');
      expect(await done('plan', 'login', '--description', 'People cannot log in.')).toContain('Draft, 2 requirements.');
      expect(await done('approve', 'login')).toMatch(/^Approved by /);
      expect(await done('design', 'login')).toContain('2 tasks; 2 of 2 requirements covered.');
      const asked = server.requests.map(({ prompt }) => prompt).filter((prompt) => prompt.includes('PLAN-1'));
      expect(asked.some((prompt) => prompt.includes('People cannot log in.'))).toBe(true);
      expect(asked.some((prompt) => prompt.includes('no task names the requirement R-002'))).toBe(true);
      expect(await done('check', 'login')).toContain('more than 2 win nothing');

      const run = project.start('kurukshetra', '--feature', 'login', '--workers', '2');
      await waitFor('it runs', () => run.output().includes('L-1 → worker'));
      expect(await done('status', '--feature', 'login')).toMatch(/RUNNING|running/);
      looked.resolve();
      expect((await run.end).exit).toBe(0);
      expect(await done('logs', '--feature', 'login', '--tail', 'all')).toContain('Done.');
      await done('merge', '--feature', 'login');
      expect(project.git('show', 'HEAD:L-2.txt')).toContain('L-2');
      await done('cleanup', '--feature', 'login', '--yes');
      expect(project.git('for-each-ref', '--format=%(refname)', 'refs/heads/mahabharatha', 'refs/mahabharatha')).toBe(
        '',
      );
    });

    it('an agent that writes to the repository, its hooks or another host gets nowhere, and the user is told', async () => {
      const attack = `
echo x > README.md; mkdir -p .git/hooks; echo 'touch /tmp/hooked' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit
git config core.fsmonitor 'touch /tmp/hooked'; git commit -qam evil; curl -sS https://example.org/ || echo refused`;
      await prepare({
        'PLAN-1': [
          bash(attack),
          writes({ 'requirements.md': REQUIREMENTS }),
          DONE,
          bash(attack),
          writes({ 'requirements.md': REQUIREMENTS }),
          DONE,
          bash(attack),
          DONE,
        ],
      });
      const before = project.git('for-each-ref') + project.git('status', '--porcelain');
      const { exit, stderr } = await project.cli('plan', 'login', '--description', 'x');
      expect(exit).toBe(1);
      expect(stderr).toMatch(/The agent has given no answer .*README\.md/s);
      expect(stderr).toMatch(/The agent was refused \d+ request/);
      expect((await project.cli('logs', '--feature', 'login.planning', '--tail', 'all')).stdout).toContain('Done.');
      expect((await project.cli('cleanup', '--feature', 'login.planning', '--yes')).exit).toBe(0);
      expect(project.git('for-each-ref') + project.git('status', '--porcelain')).toBe(before);
    });
  },
);
