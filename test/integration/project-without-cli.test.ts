import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  approveSettings,
  configOf,
  findGraph,
  openProject,
  prepareRun,
  readSettings,
  runFeature,
  viewStatus,
  wireList,
} from '../../src/project/index.ts';
import type { EndOfRun, Project, RunFace, RunHost, RunWishes } from '../../src/project/index.ts';
import { createProject, simpleTask } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';
import { fingerprint } from '../support/temp-repository.ts';

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
  return { face: { mode, build, open: () => Promise.resolve(listener) }, heard, ends };
}

/** A project with a feature of two tasks, as a server would open and prepare it. */
async function prepared(wishes: RunWishes = {}): Promise<{
  test: TestProject;
  host: RunHost;
  project: Project;
  kept: ReturnType<typeof keepingFace>;
  run: () => ReturnType<typeof runFeature>;
}> {
  const test = await createProject();
  onTestFinished(() => test.remove());
  await test.graph('login', [simpleTask('A'), simpleTask('B', { level: 2, dependencies: ['A'] })]);
  test.commit('a graph');
  const interrupted = new AbortController().signal;
  const host: RunHost = { cwd: test.folder, env: test.env, version: '0', interrupted, onForce: ignore };
  const project = await openProject(host);
  const settings = await readSettings(project, host);
  await approveSettings(project, settings, host);
  const asked: RunWishes = { mode: 'subprocess', ...wishes };
  const known = {
    project,
    config: configOf(project, settings),
    loaded: await findGraph(project, asked),
    wishes: asked,
  };
  const kept = keepingFace();
  const ready = await prepareRun(known, host, kept.face);
  return { test, host, project, kept, run: () => runFeature(ready, host, kept.face) };
}

it('a server can open a project, run a feature to its end and look at it, without anything of the CLI', async () => {
  const { test, host, project, kept, run } = await prepared();
  const end = await run();
  expect(end).toMatchObject({ exit: 0, state: { status: 'complete' } });
  expect(kept.ends).toEqual([{ state: end.state, network: expect.anything() as unknown }]);
  const { heard } = kept;
  expect([heard[0], heard[1], heard.at(-1)]).toEqual(['mode subprocess', 'run-started', 'run-finished']);
  expect(test.git('show', 'mahabharatha/login/integration:B.txt')).toBe('B\n');
  const view = await viewStatus(project.store('login'), wireList(host.env));
  expect(view).toMatchObject({ status: 'complete', orchestrator: null });
});

it('a start that is refused leaves nothing of the lock that it was planned under', async () => {
  const { test, kept, run } = await prepared({ base: 'no-such-branch' });
  const before = fingerprint(path.join(test.folder, '.mahabharatha'));
  await expect(run()).rejects.toMatchObject({ code: 'REF_UNKNOWN' });
  expect(fingerprint(path.join(test.folder, '.mahabharatha'))).toEqual(before);
  expect(kept.ends).toEqual([]);
});
