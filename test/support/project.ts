import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findByEnvironment } from '../../src/lib/index.ts';
import { replay } from '../../src/orchestrator/index.ts';
import { openStore, projectPaths } from '../../src/state/index.ts';
import { repositoryKey } from '../../src/state/run-place.ts';
import type { RecordedEvent, RunState } from '../../src/state/index.ts';
import { WAIT_LIMIT_MS } from './wait-until.ts';

/** The snapshot is in the repository, wherever workers write. */
const placeNowhere = () => ({ top: '', folder: '', record: '' });

const PROGRAM = fileURLToPath(new URL('../../bin/mahabharatha.js', import.meta.url));

export interface TestTask {
  readonly id: string;
  readonly level?: number;
  readonly dependencies?: readonly string[];
  readonly create?: readonly string[];
  readonly modify?: readonly string[];
  readonly run?: string;
  readonly verify?: string;
  readonly [key: string]: unknown;
}

/** A task that writes its own name into a file of its own. */
export const simpleTask = (id: string, rest: Partial<TestTask> = {}): TestTask => ({
  id,
  create: [`${id}.txt`],
  run: `echo ${id} > ${id}.txt`,
  ...rest,
});

/** The same, after a while. */
export const slowTask = (id: string, seconds = 0.2): TestTask =>
  simpleTask(id, { run: `sleep ${seconds}; echo ${id} > ${id}.txt` });

export interface CliResult {
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface LiveCli {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly end: Promise<CliResult>;
  /** All it has printed so far. */
  output(): string;
}

/** A real repository of its own, with a HOME of its own, in which the built program is run as a user would. */
export interface TestProject {
  readonly folder: string;
  /** A folder beside the repository, where tasks and tests leave each other things; tasks know it as `$OUTSIDE`. */
  readonly outside: string;
  readonly env: NodeJS.ProcessEnv;
  /** Writes `.mahabharatha/specs/<feature>/task-graph.json`. */
  graph(feature: string, tasks: readonly TestTask[]): Promise<void>;
  config(yaml: string): Promise<void>;
  write(file: string, text: string): Promise<void>;
  read(file: string): Promise<string>;
  /** A path below the folder that holds what workers of a feature write. */
  inWorkers(feature: string, ...parts: string[]): string;
  git(...args: string[]): string;
  /** Commits everything there is. */
  commit(message: string): void;
  cli(...args: string[]): Promise<CliResult>;
  start(...args: string[]): LiveCli;
  /** Runs to its end with this on its stdin. */
  piped(input: string, ...args: string[]): Promise<CliResult>;
  state(feature?: string): Promise<RunState>;
  events(feature?: string): Promise<RecordedEvent[]>;
  /** Live processes of a feature's run: workers and all they have started. */
  processes(feature?: string): Promise<number[]>;
  /** The same user in another folder: below the repository's, or another working tree. */
  at(folder: string): TestProject;
  remove(): Promise<void>;
}

export async function createProject(
  options: { name?: string; env?: NodeJS.ProcessEnv; mode?: 'as configured'; trust?: 'as typed' } = {},
): Promise<TestProject> {
  const top = await realpath(await mkdtemp(path.join(tmpdir(), 'mahabharatha-test-')));
  const folder = path.join(top, options.name ?? 'project');
  const outside = path.join(top, 'outside');
  const env = { ...cleanEnvironment(), HOME: path.join(top, 'home'), OUTSIDE: outside, ...options.env };
  for (const made of [folder, outside, env.HOME]) await mkdir(made, { recursive: true });
  await writeFile(path.join(env.HOME, '.gitconfig'), '[user]\n  name = Test User\n  email = user@example.org\n');
  const project = projectAt(folder, {
    top,
    outside,
    env,
    mode: options.mode ?? 'subprocess',
    trust: options.trust ?? 'given',
  });
  project.git('init', '--quiet', '--initial-branch=main');
  await project.write('README.md', '# A project\n');
  project.commit('first');
  return project;
}

interface TestUser {
  readonly top: string;
  readonly outside: string;
  readonly env: NodeJS.ProcessEnv;
  readonly mode: 'subprocess' | 'as configured';
  readonly trust: 'given' | 'as typed';
}

function projectAt(folder: string, user: TestUser): TestProject {
  const { top, outside, env } = user;
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' });
  const inState = (feature: string, ...parts: string[]): string =>
    path.join(folder, '.mahabharatha', 'state', feature, ...parts);
  const state = async (feature = 'login'): Promise<RunState> =>
    (await openStore(projectPaths(folder, placeNowhere), feature, replay).read()) ??
    Promise.reject(Object.assign(new Error(`no run of ${feature}`), { code: 'ENOENT' }));
  const start = (...args: string[]): LiveCli =>
    startCli(trusting(asSubprocesses(args, user.mode), user.trust), folder, env);
  return {
    folder,
    outside,
    env,
    graph: async (feature, tasks) => {
      const file = path.join(folder, '.mahabharatha', 'specs', feature, 'task-graph.json');
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, JSON.stringify({ feature, version: '2.0', tasks: tasks.map(inFileFormat) }, undefined, 1));
    },
    config: async (yaml) => {
      await mkdir(path.join(folder, '.mahabharatha'), { recursive: true });
      await writeFile(path.join(folder, '.mahabharatha', 'config.yaml'), yaml);
    },
    write: async (file, text) => {
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
      await writeFile(path.join(folder, file), text);
    },
    read: (file) => readFile(path.join(folder, file), 'utf8'),
    inWorkers: (feature, ...parts) =>
      path.join(stateHomeOf(env), 'mahabharatha', 'runs', repositoryKey(folder), feature, ...parts),
    git,
    commit: (message) => {
      git('add', '--all');
      git('commit', '--quiet', '--message', message);
    },
    cli: (...args) => start(...args).end,
    start,
    piped: (input, ...args) => startCli(args, folder, env, input).end,
    state,
    events: async (feature = 'login') => {
      const text = await readFile(inState(feature, 'events.jsonl'), 'utf8');
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as RecordedEvent);
    },
    processes: async (feature = 'login') => findByEnvironment('MAHABHARATHA_RUN', (await state(feature)).runId),
    at: (other) => projectAt(other, user),
    remove: () => rm(top, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function stateHomeOf(env: NodeJS.ProcessEnv): string {
  return env['XDG_STATE_HOME'] ?? path.join(env['HOME'] ?? '/', '.local', 'state');
}

/** Nothing of the machine's own agents, credentials or git settings reaches a test. */
function cleanEnvironment(): NodeJS.ProcessEnv & { HOME: string } {
  const foreign = /^(XDG_|ANTHROPIC_|CLAUDE|GIT_|MAHABHARATHA_|NO_COLOR|FORCE_COLOR|CI$|VITEST)/;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { ...Object.fromEntries(kept), HOME: '/', NODE_ENV: undefined };
}

function inFileFormat({ create, modify, verify, ...rest }: TestTask): Record<string, unknown> {
  return {
    title: `Task ${rest.id}`,
    files: { create: create ?? [], modify: modify ?? [] },
    ...(verify === undefined ? {} : { verification: { command: verify } }),
    ...rest,
  };
}

/** Whether there is an engine and an image on the machine is of no account to tests of everything else. */
function asSubprocesses(args: readonly string[], mode: TestUser['mode']): readonly string[] {
  const [verb, ...rest] = args;
  const asked = mode === 'as configured' || rest.some((arg) => arg === '--mode' || arg === '-m' || arg === '--help');
  if ((verb !== 'kurukshetra' && verb !== 'run') || asked) return args;
  return [verb, '--mode', 'subprocess', ...rest];
}

/** Tests write settings as a user does. Only tests about approval want the question. */
function trusting(args: readonly string[], trust: TestUser['trust']): readonly string[] {
  const obeys = ['kurukshetra', 'run', 'build', 'plan', 'design'].includes(args[0] ?? '') && !args.includes('--help');
  return obeys && trust === 'given' ? [...args, '--trust-config'] : args;
}

function startCli(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv, input?: string): LiveCli {
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd, env, stdio: 'pipe' });
  child.stdin.on('error', () => undefined).end(input);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const end = new Promise<CliResult>((resolve) => {
    child.once('close', (exit, signal) => resolve({ exit, signal, stdout, stderr }));
  });
  return { child, pid: child.pid ?? 0, end, output: () => stdout + stderr };
}

/** Waits until something is true; says what it waited for when it never comes true. */
export async function waitFor<Value>(
  what: string,
  look: () => Promise<Value | undefined | false> | Value | undefined | false,
): Promise<Value> {
  const deadline = performance.now() + WAIT_LIMIT_MS;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`waited ${WAIT_LIMIT_MS / 1000} s in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
