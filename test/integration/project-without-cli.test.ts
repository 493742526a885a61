import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  approveSettings,
  configOf,
  findGraph,
  openProject,
  readSettings,
  runFeature,
  viewStatus,
} from '../../src/project/index.ts';
import type { EndOfRun, Project, RunFace, RunHost, RunWishes } from '../../src/project/index.ts';
import { createContainerProject } from '../support/container-project.ts';
import { createProject, simpleTask } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';
import { fingerprint } from '../support/temp-repository.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

/** Images of another version would be stale, and built anew. */
const { version: VERSION } = createRequire(import.meta.url)('../../package.json') as { version: string };

const ignore = (): void => undefined;

/** What a server would do with all that a run says: here it is kept. */
function keepingFace(): { face: RunFace; heard: string[]; ends: (EndOfRun | undefined)[] } {
  const heard: string[] = [];
  const ends: (EndOfRun | undefined)[] = [];
  const build = {
    step: ignore,
    line: ignore,
    done: ignore,
    calledOff: ignore,
    olderStay: ignore,
    close: ignore,
  };
  const listener = {
    event: ({ type }: { readonly type: string }) => void heard.push(type),
    note: ignore,
    close: (end: EndOfRun | undefined) => Promise.resolve(void ends.push(end)),
  };
  const mode: RunFace['mode'] = ({ name }) => void heard.push(`mode ${name}`);
  const silent = { credentials: ignore, waiting: ignore, hook: ignore };
  return { face: { mode, ...silent, build, open: () => Promise.resolve(listener) }, heard, ends };
}

interface Prepared {
  readonly host: RunHost;
  readonly project: Project;
  readonly kept: ReturnType<typeof keepingFace>;
  readonly run: () => ReturnType<typeof runFeature>;
}

/** A feature of two tasks, opened and asked for as a server would do it. */
async function prepared(test: TestProject, wishes: RunWishes): Promise<Prepared> {
  onTestFinished(() => test.remove());
  await test.graph('login', [simpleTask('A'), simpleTask('B', { level: 2, dependencies: ['A'] })]);
  test.commit('a graph');
  const interrupted = new AbortController().signal;
  const host: RunHost = { cwd: test.folder, env: test.env, version: VERSION, interrupted, onForce: ignore };
  const project = await openProject(host);
  const settings = await readSettings(project, host);
  await approveSettings(project, settings, host);
  const config = configOf(project, settings);
  const request = { project, config, wishes, ...(await findGraph(project, wishes, 'enforce')) };
  const kept = keepingFace();
  return { host, project, kept, run: () => runFeature(request, host, kept.face) };
}

async function runsToItsEnd(test: TestProject, mode: string): Promise<void> {
  const { host, project, kept, run } = await prepared(test, { mode });
  const end = await run();
  expect(end).toMatchObject({ exit: 0, state: { status: 'complete', settings: { mode } } });
  expect(kept.ends).toEqual([{ state: end.state, network: expect.anything() as unknown }]);
  const { heard } = kept;
  expect([heard[0], heard[1], heard.at(-1)]).toEqual([`mode ${mode}`, 'run-started', 'run-finished']);
  expect(test.git('show', 'mahabharatha/login/integration:B.txt')).toBe('B\n');
  const view = await viewStatus(project, 'login', host.env);
  expect(view).toMatchObject({ status: 'complete', orchestrator: null });
}

describe('a server, without anything of the CLI,', () => {
  it('opens a project, runs a feature to its end with subprocesses, and looks at it', async () => {
    await runsToItsEnd(await createProject(), 'subprocess');
  });

  it.skipIf(docker.why !== '')(`does the same with containers${whySkipped}`, async () => {
    await buildWorkerImage();
    const test = await createContainerProject();
    await runsToItsEnd(test, 'container');
    expect(test.leftovers()).toEqual([]);
  });
});

describe('a start that is refused', () => {
  it('leaves nothing of the lock that it was planned under', async () => {
    const test = await createProject();
    const { kept, run } = await prepared(test, { mode: 'subprocess', base: 'no-such-branch' });
    const before = fingerprint(path.join(test.folder, '.mahabharatha'));
    await expect(run()).rejects.toMatchObject({ code: 'REF_UNKNOWN' });
    expect(fingerprint(path.join(test.folder, '.mahabharatha'))).toEqual(before);
    expect(kept.ends).toEqual([]);
  });

  it('because another process has the lock has planned nothing: no mode was chosen, no image was built', async () => {
    const { project, kept, run } = await prepared(await createProject(), { mode: 'no such mode' });
    const release = await project.store('login').lock();
    await expect(run()).rejects.toMatchObject({ code: 'ALREADY_RUNNING' });
    await release();
    await expect(run()).rejects.toMatchObject({ code: 'USAGE' });
    expect(kept.heard).toEqual([]);
  });
});
