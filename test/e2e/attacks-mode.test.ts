import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RUN = ['kurukshetra', '--mode', 'auto', '--workers', '1'];
const NO_ENGINE = 'unix:///nonexistent/docker.sock';

/** A machine with Node and git on which there has never been an engine: a container. */
const LOCKED = [
  '--rm',
  '--network=none',
  '--cap-drop=ALL',
  '--tmpfs=/home/worker:mode=1777',
  `--volume=${ROOT}:/package:ro`,
];
const PREPARE = `
cd /tmp && git init --quiet project && cd project
git config --global user.name Test && git config --global user.email test@example.org
mahabharatha() { node /package/bin/mahabharatha.js "$@"; }
attempt() { mahabharatha kurukshetra --trust-config --workers 1 "$@" > /tmp/out 2> /tmp/err; echo "exit $?"; head -1 /tmp/out; cat /tmp/err; }
git commit --quiet --allow-empty --message first && mahabharatha init > /dev/null && git add --all && git commit --quiet --message second
`;

function withoutEngine(script: string): string {
  const args = ['run', ...LOCKED, '--tmpfs=/tmp:exec,mode=1777', '--entrypoint', 'bash', 'mahabharatha-worker:latest'];
  return execFileSync('docker', [...args, '-c', `${PREPARE}${script}`], { encoding: 'utf8' });
}

const COMMAND = '{"id":"A","title":"A","files":{"create":["a"]},"run":"test -e /tmp/go && echo a > a"}';
const FOR_AGENT = '{"id":"B","title":"B","files":{"create":["b"]}}';
const writeGraph = (...tasks: string[]): string =>
  `echo '{"feature":"login","tasks":[${tasks.join()}]}' > .mahabharatha/specs/login/task-graph.json`;
const STAND_IN = `printf '#!/bin/sh\\ntouch /tmp/ran\\n' > /tmp/bin/claude; chmod +x /tmp/bin/claude`;

/** A run of one command that fails, and is resumed when that would succeed, and when something else has changed. */
function resumed(named: string, change: string): string {
  return withoutEngine(
    [
      `mkdir -p .mahabharatha/specs/login; ${writeGraph(COMMAND)}; attempt --feature login ${named} | head -1`,
      'mkdir /tmp/bin; PATH=/tmp/bin:$PATH; touch /tmp/go; mahabharatha retry A --feature login > /tmp/out',
      change,
      'attempt --feature login --resume; ls /tmp',
    ].join('\n'),
  );
}

describe.skipIf(docker.why !== '')(`nothing sends workers from containers to the host${whySkipped}`, () => {
  let project: ContainerProject | undefined;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    expect(project?.leftovers() ?? []).toEqual([]);
    await project?.remove();
    project = undefined;
  });

  it('a machine that never had an engine builds the example with the rights of the user, and says so first', () => {
    const said = withoutEngine(
      'attempt --feature example; grep -c "Not protected: commands of tasks run with your own rights" /tmp/out',
    );
    expect(said).toMatch(
      /^exit 0\nmode auto: subprocess, because this machine has no container engine, and all tasks have a command of their own\n1\n$/,
    );
  });

  it.each([
    ['a Dockerfile that a task has added', 'touch .mahabharatha/Dockerfile', '.mahabharatha/Dockerfile'],
    [
      'workers.container in the configuration',
      'echo "workers: { container: { memory: 1g } }" > .mahabharatha/config.yaml',
      'workers.container',
    ],
    [
      'an engine that is stopped',
      'mkdir /tmp/bin; cp /bin/true /tmp/bin/docker; PATH=$PATH:/tmp/bin',
      '/tmp/bin/docker is on this machine',
    ],
    [
      'an engine that is out of reach',
      'export DOCKER_HOST=tcp://127.0.0.1:1',
      'DOCKER_HOST: tcp://127.0.0.1:1: nothing listens there',
    ],
    [
      'an earlier run in containers, of which the repository knows nothing any more',
      `node -e 'import("/package/dist/project/reasons-for-containers.js").then((it) => it.rememberContainers("/tmp/project/.git", process.env))'`,
      'this repository has run in containers on this machine',
    ],
  ])('there, %s makes mode auto refuse', (_, change, reason) => {
    const said = withoutEngine(`${change}; attempt --feature example; ls .mahabharatha/state 2>&1; git branch`);
    expect(said).toMatch(/^exit 4\nerror: No container engine can be reached/);
    expect(said).toContain(reason);
    expect(said).toMatch(/Start Docker .*--mode subprocess/);
    expect(said, 'nothing was begun').not.toContain('mahabharatha/example');
  });

  it('there, an agent gets the rights of the user only when a person says so', () => {
    const graph = '{"feature":"login","tasks":[{"id":"A","title":"A","files":{"create":["a"]}}]}';
    const write = `mkdir -p .mahabharatha/specs/login; echo '${graph}' > .mahabharatha/specs/login/task-graph.json`;
    const said = withoutEngine(
      `${write}; attempt --feature login; attempt --feature login --mode subprocess --dry-run; cat /tmp/out`,
    );
    expect(said).toMatch(
      /^exit 4\nerror: There is no container engine on this machine, and 1 of the tasks is for an agent \(claude\)/,
    );
    expect(said).toMatch(/exit 0\nmode subprocess, because --mode says so\n/);
    expect(said).toContain('Claude Code is started with --dangerously-skip-permissions');
  });

  it('there, a run that auto has begun is not resumed with an agent that was not in it', () => {
    const said = resumed('', `${STAND_IN}; ${writeGraph(COMMAND, FOR_AGENT)}`);
    expect(said).toMatch(/exit 4\nerror: There is no container engine on this machine, and 1 of the tasks is for/);
    expect(said).not.toMatch(/^ran$/m);
  });

  it('there, a run that auto has begun is not resumed beside an engine that has come meanwhile', () => {
    const said = resumed('', 'cp /bin/true /tmp/bin/docker');
    expect(said).toMatch(/exit 4\nerror: No container engine can be reached[^]*\/tmp\/bin\/docker is on this machine/);
  });

  it('there, a run that a person has begun as subprocesses goes on so', () => {
    const said = resumed('--mode subprocess', 'cp /bin/true /tmp/bin/docker');
    expect(said).toMatch(/^exit 1\nexit 0\nmode subprocess, because the run was begun so\n/);
  });

  it('a repository that has run in containers stays there when its state, its configuration and the engine are gone', async () => {
    project = await createContainerProject();
    await project.graph('login', [{ id: 'A', create: ['a.txt'], run: 'echo a > a.txt' }]);
    const first = await project.cli('kurukshetra', '--workers', '1');
    expect([first.exit, first.stdout.split('\n')[0]]).toEqual([
      0,
      'mode container, because workers.mode in .mahabharatha/config.yaml says so',
    ]);
    expect((await project.cli('cleanup', '--yes')).exit).toBe(0);
    await rm(path.join(project.folder, '.mahabharatha', 'config.yaml'));
    project.env['DOCKER_HOST'] = NO_ENGINE;

    const { exit, stdout, stderr } = await project.cli(...RUN);

    expect([exit, stdout]).toEqual([4, '']);
    expect(stderr).toContain('- this repository has run in containers on this machine');
    await expect(project.state()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('a state that says "subprocess" does not send a resumed run to the host where containers are meant', async () => {
    project = await createContainerProject();
    await project.graph('login', [{ id: 'A', create: ['a.txt'], run: 'test -e "$OUTSIDE/go" && echo a > a.txt' }]);
    await project.cli('kurukshetra', '--mode', 'subprocess', '--workers', '1');
    await project.write('../outside/go', '');
    await project.cli('retry', 'A');
    const unclear = await project.cli(...RUN, '--resume');
    expect(unclear.exit).toBe(4);
    expect(unclear.stderr).toMatch(
      /The run of "login" was begun in mode subprocess[^]*workers\.container[^]*--mode subprocess/,
    );
    const { exit, stdout } = await project.cli('kurukshetra', '--resume', '--mode', 'subprocess');
    expect(stdout).toMatch(/^mode subprocess, because --mode says so\n {2}Not protected: /);
    expect(exit).toBe(0);
  });
});
