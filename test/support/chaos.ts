import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { findByEnvironment, processStart } from '../../src/lib/index.ts';
import type { WorkerStatus } from '../../src/protocol/index.ts';
import type { RecordedEvent, RunState } from '../../src/state/index.ts';
import { expectSound } from './check-run.ts';
import { createProject, waitFor } from './project.ts';
import type { CliResult, TestProject, TestTask } from './project.ts';

/** The longer version of the chaos tests: every point instead of some. */
export const SOAK = process.env['MAHABHARATHA_SOAK'] === '1';

/** Of the moments that would be tried, those whose names match. */
const CHOSEN = new RegExp(process.env['MAHABHARATHA_MOMENTS'] ?? '');

/** Part of the tests' names: says whether all moments were tried or some. */
export const MOMENTS_TRIED = SOAK ? 'at every moment' : 'at some moments; at every one with MAHABHARATHA_SOAK=1';

// One test goes through many moments, several at a time: on a loaded machine that takes its time.
vi.setConfig({ testTimeout: SOAK ? 3_600_000 : 600_000 });

export type LiveRun = ReturnType<TestProject['start']>;

interface Execution {
  readonly task: string;
  readonly pid: number;
}

/** A project whose tasks write down, outside of the repository, that they ran; and traps for its processes. */
export interface Chaos {
  readonly project: TestProject;
  /** A folder that is not part of the repository. */
  readonly outside: string;
  /** Every start of a task's command, in order. */
  ran(): Promise<Execution[]>;
  /** Has the task's command been started? */
  started(task: string): boolean;
  /** How often a task's command was started. */
  timesRan(task: string): Promise<number>;
  /** The n-th git command of the orchestrator, or of a worker, kills the process that asked for it. */
  trap(who: 'orchestrator' | 'worker', nth: number, mode: TrapMode): Promise<void>;
  /** The git command that went into the trap; undefined until one has. */
  trapped(): string | undefined;
  /** Live processes of a run, also when its state is gone. */
  processesOf(runId: string): Promise<number[]>;
  remove(): Promise<void>;
}

/** Before: git does not run any more. After: it has run. Late: it goes on running while all else goes on. */
type TrapMode = 'before' | 'after' | 'late';

export async function createChaos(options: { env?: NodeJS.ProcessEnv; name?: string } = {}): Promise<Chaos> {
  const outside = await realpath(await mkdtemp(path.join(tmpdir(), 'mahabharatha-chaos-')));
  await mkdir(path.join(outside, 'bin'));
  await writeFile(path.join(outside, 'bin', 'git'), gitTrap(outside));
  await chmod(path.join(outside, 'bin', 'git'), 0o755);
  await writeFile(path.join(outside, 'ran'), '');
  const env = { PATH: `${path.join(outside, 'bin')}:${process.env['PATH']}`, ...options.env };
  const project = await createProject({ ...options, env });
  const ran = async (): Promise<Execution[]> =>
    (await readFile(path.join(outside, 'ran'), 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ task: line.split(' ')[0] ?? '', pid: Number(line.split(' ')[1]) }));
  return {
    project,
    outside,
    ran,
    started: (task) => (readIfThere(path.join(outside, 'ran')) ?? '').includes(`${task} `),
    timesRan: async (task) => (await ran()).filter((execution) => execution.task === task).length,
    trap: (who, nth, mode) => writeFile(path.join(outside, 'trap'), `${who} ${nth} ${mode}\n`),
    trapped: () => readIfThere(path.join(outside, 'trapped')),
    processesOf: (runId) => findByEnvironment('MAHABHARATHA_RUN', runId),
    remove: async () => {
      for (const pid of await markedProcesses(project)) killIfThere(pid, 'SIGKILL');
      await project.remove();
      await rm(outside, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export async function withChaos(work: (chaos: Chaos) => Promise<void>): Promise<void> {
  const chaos = await createChaos();
  try {
    await work(chaos);
  } finally {
    await chaos.remove();
  }
}

/** All processes of any run of the project. */
async function markedProcesses(project: TestProject): Promise<number[]> {
  return findByEnvironment('HOME', project.env['HOME'] ?? '');
}

function gitTrap(folder: string): string {
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  return `#!/bin/sh
if [ -f '${folder}/trap' ]; then
  read -r who nth mode < '${folder}/trap'
  me=other
  if [ -n "$MAHABHARATHA_SESSION" ]; then me=worker
  elif ps -o args= -p $PPID | grep -q kurukshetra; then me=orchestrator; fi
  if [ "$me" = "$who" ]; then
    echo "$*" >> '${folder}/commands'
    if [ "$(wc -l < '${folder}/commands')" -ge "$nth" ] && mv '${folder}/trap' '${folder}/sprung'; then
      echo "$*" > '${folder}/trapped'
      if [ $mode = after ]; then '${real}' "$@"; fi
      kill -9 $PPID
      if [ $mode != late ]; then exit 1; fi
      sleep 0.3
    fi
  fi
fi
exec '${real}' "$@"
`;
}

/** A task that says that it ran, takes a moment, and writes `<id>.txt`. */
export function tracedTask(chaos: Chaos, id: string, rest: Partial<TestTask> & { seconds?: number } = {}): TestTask {
  const { seconds = 0.2, ...more } = rest;
  const file = `${id}.txt`;
  return {
    id,
    create: [file],
    run: `echo "${id} $$" >> '${chaos.outside}/ran'; sleep ${seconds}; echo "made by ${id}" > ${file}`,
    verify: `test -f ${file}`,
    ...more,
  };
}

interface FeatureOptions {
  readonly verifySeconds?: number;
  /** This task waits for `letGo`, so that the run cannot be over before it. */
  readonly held?: 'B' | 'C';
}

/** Two tasks beside each other, then two that need them, with a set-up, verifications and a gate. */
export async function standardFeature(
  chaos: Chaos,
  lease: string,
  { verifySeconds = 0.05, held }: FeatureOptions = {},
): Promise<string[]> {
  await chaos.project.config(
    [
      `workers: { count: 2, lease: ${lease}, setup: sleep 0.05 }`,
      'gates: [{ name: files, command: "sleep 0.1; test -f A.txt && test -f B.txt" }]',
      '',
    ].join('\n'),
  );
  const tasks = [
    tracedTask(chaos, 'A', { level: 1, seconds: 0.3, verify: `sleep ${verifySeconds}; test -f A.txt` }),
    tracedTask(chaos, 'B', { level: 1, seconds: 0.1 }),
    tracedTask(chaos, 'C', { level: 2, dependencies: ['A', 'B'], seconds: 0.2 }),
    tracedTask(chaos, 'D', { level: 2, dependencies: ['A'], seconds: 0.1 }),
  ];
  const until = `until [ -e '${chaos.outside}/go' ]; do sleep 0.02; done; `;
  await chaos.project.graph(
    'login',
    tasks.map((task) => (task.id === held ? { ...task, run: `${until}${task.run}` } : task)),
  );
  return ['A', 'B', 'C', 'D'];
}

/** Lets the task that is held go on, in this run and in all that follow. */
export const letGo = (chaos: Chaos): Promise<void> => writeFile(path.join(chaos.outside, 'go'), '');

/** The run is complete in every respect: its exit, its state, its branch, and nothing of it left over. */
export async function expectBuilt(chaos: Chaos, end: CliResult, tasks: readonly string[]): Promise<void> {
  const { project } = chaos;
  expect(end.exit, `${end.stdout}\n${end.stderr}`).toBe(0);
  expect(await project.processes(), 'processes that are left').toEqual([]);
  const state = await project.state();
  expect(state.status).toBe('complete');
  expect(Object.entries(state.tasks).map(([id, task]) => [id, task.status, task.merged])).toEqual(
    tasks.map((id) => [id, 'complete', true]),
  );
  for (const id of tasks) {
    expect(project.git('show', `mahabharatha/login/integration:${id}.txt`)).toBe(`made by ${id}\n`);
  }
  expect(project.git('status', '--porcelain')).toBe('?? .mahabharatha/\n');
  expectSound(project, 'a run that is complete');
}

/** The workers of a run that have reported what they do. */
export function busyWorkers(project: TestProject): ReadonlySet<number> {
  return new Set(eventsSoFar(project).flatMap((event) => (event.type === 'worker-phase' ? [event.worker] : [])));
}

/** What is in the event log now; a last line that is being written does not count. */
export function eventsSoFar(project: TestProject, feature = 'login'): RecordedEvent[] {
  const file = path.join(project.folder, '.mahabharatha', 'state', feature, 'events.jsonl');
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const known = readEvents.get(file);
  if (known?.size === size) return known.events;
  const text = (readIfThere(file) ?? '').slice(0, size);
  const lines = text.split('\n').slice(0, -1);
  const events = lines.map((line) => JSON.parse(line) as RecordedEvent);
  readEvents.set(file, { size, events });
  return events;
}

const readEvents = new Map<string, { readonly size: number; readonly events: RecordedEvent[] }>();

export function stateSoFar(project: TestProject, feature = 'login'): RunState | undefined {
  const text = readIfThere(path.join(project.folder, '.mahabharatha', 'state', `${feature}.json`));
  return text === undefined ? undefined : (JSON.parse(text) as RunState);
}

export function outboxOf(project: TestProject, worker: number, feature = 'login'): string {
  return project.inWorkers(feature, String(worker), 'outbox');
}

export function statusOf(project: TestProject, worker: number): WorkerStatus | undefined {
  try {
    return JSON.parse(readIfThere(path.join(outboxOf(project, worker), 'status.json')) ?? '') as WorkerStatus;
  } catch {
    return undefined;
  }
}

/** Looks every millisecond until it is so, or the run is over; false in the second case. */
export async function sees(live: LiveRun, what: () => boolean): Promise<boolean> {
  let over = false;
  void live.end.then(() => (over = true));
  for (;;) {
    if (what()) return true;
    if (over) return false;
    await delay(1);
  }
}

/** No process of the project's runs is left. */
export async function untilNothingIsLeft(chaos: Chaos): Promise<void> {
  const gone = async (): Promise<boolean> => {
    await delay(150);
    return (await chaos.project.processes()).length === 0;
  };
  await waitFor('no process of the run is left', gone);
}

/** Does the work for each point, a few at a time; a failure says at which point. */
export async function atEach<Point>(
  points: readonly Point[],
  nameOf: (point: Point) => string,
  work: (chaos: Chaos, point: Point) => Promise<void>,
  width = 3,
): Promise<void> {
  await atEachOf(points, nameOf, { create: createChaos, width }, work);
}

/** The same in a world of another kind. */
export async function atEachOf<Point, World extends { readonly project: TestProject; remove(): Promise<void> }>(
  points: readonly Point[],
  nameOf: (point: Point) => string,
  { create, width }: { readonly create: () => Promise<World>; readonly width: number },
  work: (world: World, point: Point) => Promise<void>,
): Promise<void> {
  const queue = points.filter((point) => CHOSEN.test(nameOf(point)));
  const failures: string[] = [];
  const runner = async (): Promise<void> => {
    for (let point = queue.shift(); point !== undefined; point = queue.shift()) {
      const chaos = await create();
      try {
        await work(chaos, point);
      } catch (error) {
        const log = eventsSoFar(chaos.project).map((event) => JSON.stringify(event).slice(0, 300));
        failures.push(`${nameOf(point)}: ${String(error)}\n${log.join('\n')}`);
      } finally {
        await chaos.remove();
      }
    }
  };
  await Promise.all(Array.from({ length: width }, runner));
  expect(failures.join('\n\n')).toBe('');
}

/** The same numbers at every run of the tests: what failed once can be had again. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export async function isThere(pid: number): Promise<boolean> {
  return (await processStart(pid)) !== undefined;
}

export function killIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
}

export const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
