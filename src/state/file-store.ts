import { mkdir, readFile, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  libErrors,
  lockHolder,
  randomId,
  reasonOf,
  removeDrafts,
  removeLockDrafts,
  removeTree,
  systemCode,
  writeFileAtomic,
} from '../lib/index.ts';
import type { LockHolder } from '../lib/index.ts';
import { stateErrors } from './errors.ts';
import { appendEvents, eventsAfter } from './event-log.ts';
import type { NumberedEvent } from './events.ts';
import type { FeaturePaths, ProjectPaths } from './paths.ts';
import { createRunFiles } from './run-files.ts';
import { makeRunFolder, removeRunFolder } from './run-place.ts';
import { STATE_VERSION, runState } from './schema.ts';
import type { RunState } from './schema.ts';

const DRAFT_MS = 60_000;

/** What people ask of a running orchestrator. */
export interface RunRequest {
  readonly kind: 'retry';
  readonly task: string;
}

interface StandingRequest extends RunRequest {
  readonly id: string;
}

/** The state of one feature's run on disk. Only the holder of the lock writes. */
export interface StateStore {
  readonly paths: FeaturePaths;
  /** The snapshot and what has happened since; undefined when there is no run. Refuses what it does not understand. */
  read(): Promise<RunState | undefined>;
  write(state: RunState): Promise<void>;
  /** Resolves when the events are on the disk. */
  append(events: readonly NumberedEvent[]): Promise<void>;
  /** Takes the run for this process, or throws ALREADY_RUNNING; LOCK_FOREIGN when it is another host's. */
  lock(): Promise<() => Promise<void>>;
  /**
   * Makes again what others have removed of the run's files, the lock first, and returns what that was; the snapshot and the
   * log are for the caller to write. Throws LOCK_LOST when another process has the lock by now. Does nothing without the lock.
   */
  restore(): Promise<readonly string[]>;
  /** Keeps the task graph as the run uses it. */
  keepGraph(text: string): Promise<void>;
  /** Makes the folder of the workers, for its user alone; throws FOLDER_UNSAFE. The caller holds the lock. */
  makeWorkers(): Promise<void>;
  /** Removes it; all workers have ended. */
  removeWorkers(): Promise<void>;
  /** The live orchestrator, if there is one. */
  holder(): Promise<LockHolder | undefined>;
  ask(request: RunRequest): Promise<void>;
  /** Each stands until it is dropped. */
  requests(): Promise<StandingRequest[]>;
  /** What follows from them must be saved before: a crash in between must not lose them. */
  dropRequests(ids: Iterable<string>): Promise<void>;
}

/** What a state becomes by events that happened after it. */
type Replay = (state: RunState, events: readonly NumberedEvent[]) => RunState;

export function openStore(project: ProjectPaths, feature: string, replay: Replay): StateStore {
  const paths = project.feature(feature);
  const place = project.placeOf(feature);
  const files = createRunFiles(project, feature);
  return {
    paths,
    read: () => readState(paths, replay),
    write: (state) =>
      writing(paths.state, () => writeFileAtomic(paths.state, `${JSON.stringify(state)}\n`, { durable: true })),
    append: (events) => writing(paths.events, () => appendEvents(paths.events, events)),
    lock: async () => {
      const release = await files.lock();
      await clearDrafts(project, paths);
      return release;
    },
    restore: files.restore,
    keepGraph: files.keepGraph,
    makeWorkers: () => makeRunFolder(path.dirname(project.top), feature, place),
    removeWorkers: () => removeRunFolder(place),
    holder: () => lockHolder(paths.lock),
    ask: async (request) => {
      await mkdir(paths.requests, { recursive: true });
      await writeFileAtomic(path.join(paths.requests, `${randomId()}.json`), JSON.stringify(request), {
        durable: true,
      });
    },
    requests: () => readRequests(paths.requests),
    dropRequests: (ids) => dropRequests(paths.requests, ids),
  };
}

/** Features that have a run, by their snapshots. */
export async function featuresWithState(project: ProjectPaths): Promise<string[]> {
  const names = await readdir(project.state).catch(() => []);
  return names
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .map((name) => name.slice(0, -'.json'.length));
}

/** Removes all of a run but its lock; the caller holds that. The snapshot goes last: until then it can be repeated. */
export async function clearRun(paths: FeaturePaths): Promise<void> {
  await rm(paths.logs, { recursive: true, force: true });
  for (const name of await readdir(paths.folder).catch(() => [])) {
    const file = path.join(paths.folder, name);
    if (file === paths.lock || (await isFreshDraft(paths.lock, file))) continue;
    await removeTree(file);
  }
  await rm(paths.state, { force: true });
}

/**
 * Others who ask for the lock write theirs beside it first; only what has lain there for long is a dead process's. After a jump of the wall clock a live one's may go: its writer then fails and says so.
 */
async function isFreshDraft(lock: string, file: string): Promise<boolean> {
  if (!file.startsWith(`${lock}.`)) return false;
  const stats = await stat(file).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs < DRAFT_MS;
}

/** What killed processes have left half written. The caller holds the lock. */
async function clearDrafts(project: ProjectPaths, paths: FeaturePaths): Promise<void> {
  await removeDrafts(project.state, [path.basename(paths.state)]);
  await removeDrafts(paths.folder, [path.basename(paths.usedGraph)]);
  for (const folder of [project.logs, paths.requests]) await removeDrafts(folder);
  await removeLockDrafts(paths.lock);
}

async function writing(file: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw libErrors.FILE_UNWRITABLE({ file, reason: reasonOf(error) }, { cause: error });
  }
}

async function readState(paths: FeaturePaths, replay: Replay): Promise<RunState | undefined> {
  const text = await reading(paths.state, () => readFile(paths.state, 'utf8'));
  if (text === undefined) return undefined;
  const snapshot = parseSnapshot(paths.state, text);
  const events = (await reading(paths.events, () => eventsAfter(paths.events, snapshot.events))) ?? [];
  return events.length === 0 ? snapshot : replayed(paths.events, () => replay(snapshot, events));
}

async function reading<Result>(file: string, read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  }
}

function parseSnapshot(file: string, text: string): RunState {
  const value = parseJson(file, text);
  const version = typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined;
  if (version !== STATE_VERSION) {
    throw stateErrors.STATE_VERSION({
      file,
      found: version === undefined ? 'none' : JSON.stringify(version),
      known: STATE_VERSION,
    });
  }
  return checked(file, value);
}

/** Lines of a log that are no events of ours make no state. */
function replayed(file: string, replay: () => RunState): RunState {
  let state;
  try {
    state = replay();
  } catch (error) {
    const problems = [`an event cannot be followed: ${reasonOf(error)}`];
    throw stateErrors.STATE_INVALID({ file, problems }, { cause: error });
  }
  return checked(file, state);
}

function checked(file: string, value: unknown): RunState {
  const parsed = runState.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .slice(0, 20)
    .map((issue) => `${issue.path.join('.') || 'the whole file'}: ${issue.message}`);
  throw stateErrors.STATE_INVALID({ file, problems });
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw stateErrors.STATE_INVALID({ file, problems: [`it is not JSON: ${reasonOf(error)}`] }, { cause: error });
  }
}

async function readRequests(folder: string): Promise<StandingRequest[]> {
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => name.endsWith('.json') && !name.startsWith('.'),
  );
  const requests: StandingRequest[] = [];
  for (const id of names.toSorted()) {
    const request = asRequest(await readFile(path.join(folder, id), 'utf8').catch(() => ''));
    if (request === undefined) await dropRequests(folder, [id]);
    else requests.push({ id, ...request });
  }
  return requests;
}

async function dropRequests(folder: string, ids: Iterable<string>): Promise<void> {
  for (const id of ids) await rm(path.join(folder, id), { force: true });
}

function asRequest(text: string): RunRequest | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('task' in value) || typeof value.task !== 'string')
      return undefined;
    return { kind: 'retry', task: value.task };
  } catch {
    return undefined;
  }
}
