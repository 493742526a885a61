import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { findByEnvironment } from '../../src/lib/index.ts';
import type { RecordedEvent } from '../../src/state/index.ts';
import { bridgeAddress } from './bridge.ts';
import { atEachOf, delay, eventsSoFar, killIfThere, sees, stateSoFar } from './chaos.ts';
import type { LiveRun } from './chaos.ts';
import { expectSound } from './check-run.ts';
import { createContainerProject } from './container-project.ts';
import type { ContainerProject } from './container-project.ts';
import { createEngineGate } from './engine-gate.ts';
import type { Asked, EngineGate } from './engine-gate.ts';
import type { CliResult, TestTask } from './project.ts';
import { WAIT_LIMIT_MS } from './wait-until.ts';

export const TASKS = ['A', 'B', 'C'];
/** How many numbered lines each task prints. */
const LINES: Readonly<Record<string, number>> = { A: 20, B: 3, C: 3 };

/** A run in containers whose tasks print numbered lines and need the network, and whose orchestrator can be killed. */
export interface ContainerChaos {
  readonly project: ContainerProject;
  readonly gate: EngineGate;
  /** The git command of the orchestrator that fetches a result kills it. */
  trapFetch(): Promise<void>;
  /** Texts of one task's own lines, in the order of the log. */
  printed(task: string): string[];
  /** Processes of the program: orchestrators and sweepers. */
  processes(): Promise<number[]>;
  remove(): Promise<void>;
}

/** A server on this machine that workers may reach; call it at the top of a test file. */
export function serverForWorkers(): { address(): string; asked(path: string): number } {
  const paths: string[] = [];
  const server = http.createServer((request, response) => {
    paths.push(request.url ?? '');
    response.end('here\n');
  });
  let host = '';
  beforeAll(async () => {
    host = bridgeAddress();
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
  });
  afterAll(() => void server.close());
  return {
    address: () => `${host}:${(server.address() as AddressInfo).port}`,
    asked: (wanted) => paths.filter((one) => one === wanted).length,
  };
}

export async function createContainerChaos(lease: string, address: string | undefined): Promise<ContainerChaos> {
  const container = address === undefined ? 'network: none' : `network: allowlist\nallow: ["${address}"]`;
  const project = await createContainerProject({ container, workers: `lease: ${lease}\nsetup: sleep 0.3` });
  await project.config(
    `${await project.read('.mahabharatha/config.yaml')}gates: [{ name: files, command: "sleep 0.2; test -f A.txt" }]\n`,
  );
  const gate = await createEngineGate(project.outside);
  const bin = path.join(project.outside, 'bin');
  await mkdir(bin);
  await writeFile(path.join(bin, 'git'), fetchTrap(project.outside));
  await chmod(path.join(bin, 'git'), 0o755);
  Object.assign(project.env, { DOCKER_HOST: gate.host, PATH: `${bin}:${process.env['PATH']}` });
  await project.graph('login', [
    numberedTask('A', 1, address, project.folder),
    numberedTask('B', 1, address, project.folder),
    numberedTask('C', 2, address, project.folder),
  ]);
  const processes = async (): Promise<number[]> => findByEnvironment('HOME', project.env['HOME'] ?? '');
  return {
    project,
    gate,
    trapFetch: () => writeFile(path.join(project.outside, 'trap'), ''),
    printed: (task) => printedLines(project, task),
    processes,
    remove: async () => {
      for (const pid of await processes()) killIfThere(pid, 'SIGKILL');
      gate.close();
      await project.remove();
    },
  };
}

function numberedTask(id: string, level: number, address: string | undefined, key: string): TestTask {
  const ask = address === undefined ? '' : `curl -sS --fail --max-time 600 http://${address}${key}/${id} && `;
  const lines = `for i in $(seq ${LINES[id]}); do echo "${id} says $i"; sleep 0.1; done`;
  return {
    id,
    level,
    create: [`${id}.txt`],
    run: `${ask}${lines} && ${ask}echo "made by ${id}" > ${id}.txt`,
    verify: `sleep 0.2; test -f ${id}.txt`,
  };
}

function fetchTrap(folder: string): string {
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
  return `#!/bin/sh
case "$*" in
  *index-pack*) if mv '${folder}/trap' '${folder}/sprung' 2> /dev/null; then kill -9 $PPID; exit 1; fi ;;
esac
exec '${real}' "$@"
`;
}

function printedLines(project: ContainerProject, task: string): string[] {
  const folder = path.join(project.folder, '.mahabharatha', 'logs', 'login');
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('worker-')) : [];
  const lines = files.flatMap((name) => readFileSync(path.join(folder, name), 'utf8').split('\n'));
  return lines.flatMap((line) => {
    try {
      const { text } = JSON.parse(line) as { text: string };
      return text.startsWith(`${task} says `) ? [text] : [];
    } catch {
      return [];
    }
  });
}

/** A moment of a run at which its orchestrator is killed: resolves when it is dead. */
export interface Moment {
  readonly name: string;
  kill(chaos: ContainerChaos, live: LiveRun): Promise<void>;
}

/** It must have died of it: a moment that never came would show nothing. */
const died = async (live: LiveRun): Promise<void> => {
  const { signal, stdout, stderr } = await live.end;
  if (signal !== 'SIGKILL') throw new Error(`the moment never came:\n${stdout}\n${stderr}`);
};

/** As soon as the event log has the event. */
export function after(type: RecordedEvent['type'], nth = 1): Moment {
  const count = (project: ContainerProject): number =>
    eventsSoFar(project).filter((event) => event.type === type).length;
  return {
    name: `after ${type} ${nth}`,
    kill: async ({ project }, live) => {
      await sees(live, () => count(project) >= nth);
      killIfThere(live.pid, 'SIGKILL');
      await died(live);
    },
  };
}

/** A question to the engine: "POST /containers/:id/start", and of which container, by its name. */
type Question = readonly [what: string, container?: RegExp];

const fits = (asked: Asked, [what, container]: Question): boolean =>
  `${asked.method} ${asked.path}` === what && (container?.test(asked.container ?? '') ?? true);

/** Exactly then: the engine's answer does not reach it any more, or its question does not reach the engine. */
export function atEngine(at: 'onAnswer' | 'onRequest', question: Question, nth = 1): Moment {
  return {
    name: `${at === 'onAnswer' ? 'after' : 'before'} ${question[0]} ${question[1]?.source ?? ''}`.trim(),
    kill: async ({ gate }, live) => {
      let seen = 0;
      gate[at](
        (asked) => fits(asked, question) && ++seen === nth,
        () => killIfThere(live.pid, 'SIGKILL'),
      );
      await died(live);
    },
  };
}

export const WHILE_FETCHING: Moment = {
  name: 'while a result is fetched',
  kill: async (chaos, live) => {
    await chaos.trapFetch();
    await died(live);
  },
};

/**
 * Neither a process, a container, a volume nor a network of the run is left. Processes are looked for first: the engine
 * is asked in a way that holds up the test itself, and with it the gate.
 */
export async function untilAllIsGone({ project, processes }: ContainerChaos): Promise<void> {
  const deadline = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    const live = (await processes()).map((pid) => `process ${pid}`);
    const late = performance.now() > deadline;
    const left = live.length === 0 || late ? [...live, ...project.leftovers()] : live;
    if (left.length === 0) return;
    if (late) throw new Error(`left after ${WAIT_LIMIT_MS / 1000} s: ${left.join(', ')}`);
    await delay(200);
  }
}

export async function goOn({ project }: ContainerChaos): Promise<CliResult> {
  const known = stateSoFar(project) !== undefined;
  return project.cli('kurukshetra', '--workers', '2', ...(known ? ['--resume'] : []));
}

/** Complete, with every task's work on the branch, and no task charged for the orchestrator's death. */
export async function expectComplete({ project }: ContainerChaos, end: CliResult): Promise<void> {
  const egress = path.join(project.folder, '.mahabharatha', 'logs', 'login', 'egress.jsonl');
  const refused = existsSync(egress) ? readFileSync(egress, 'utf8') : '';
  expect(end.exit, `${end.stdout}\n${end.stderr}\n${refused}`).toBe(0);
  const { status, tasks } = await project.state();
  expect(status).toBe('complete');
  expect(Object.values(tasks).map(({ failures }) => failures)).toEqual(TASKS.map(() => 0));
  for (const id of TASKS)
    expect(project.git('show', `mahabharatha/login/integration:${id}.txt`)).toBe(`made by ${id}\n`);
  expectSound(project, 'a run that is complete');
}

/** Each task has run once, and all it printed is in the log: no gap, no line twice. */
export function expectOnce({ printed }: ContainerChaos): void {
  for (const id of TASKS) {
    expect(printed(id)).toEqual(Array.from({ length: LINES[id] ?? 0 }, (_, index) => `${id} says ${index + 1}`));
  }
}

/** Does the work at each moment, a few at a time; a failure says at which one. */
export async function atEachMoment(
  moments: readonly Moment[],
  create: () => Promise<ContainerChaos>,
  work: (chaos: ContainerChaos, moment: Moment) => Promise<void>,
): Promise<void> {
  await atEachOf(moments, ({ name }) => name, { create, width: 4 }, work);
}
