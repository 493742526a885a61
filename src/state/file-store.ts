import { readdirSync } from 'node:fs';
import { readFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import {
  isOldDraft,
  libErrors,
  lockHolder,
  makeFolder,
  randomId,
  readJson,
  jsonProblem,
  reasonOf,
  removeDrafts,
  removeLockDrafts,
  removeTree,
  undefinedIfMissing,
  writeFileAtomic,
} from '../lib/index.ts';
import type { LockHolder } from '../lib/index.ts';
import { place, shapeProblem } from '../lib/text/shape.ts';
import { stateErrors } from './errors.ts';
import { appendEvents, eventsAfter } from './event-log.ts';
import type { NumberedEvent } from './events.ts';
import type { FeaturePaths, ProjectPaths } from './paths.ts';
import { createRunFiles } from './run-files.ts';
import { makeRunFolder, removeRunFolder } from './run-place.ts';
import { STATE_VERSION, runState } from './schema.ts';
import type { RunState } from './schema.ts';

/** What people ask of a running orchestrator. */
const runRequest = z.object({ kind: z.literal('retry'), task: z.string() });
type RunRequest = z.infer<typeof runRequest>;

/** Adds events to a state that was saved before them. */
type Replay = (state: RunState, events: readonly NumberedEvent[]) => RunState;

/** The state of one feature's run on disk. Only the holder of the lock writes. */
export type StateStore = ReturnType<typeof openStore>;

export function openStore(project: ProjectPaths, feature: string, replay: Replay) {
  const paths = project.feature(feature);
  const place = project.placeOf(feature);
  const files = createRunFiles(project, feature);
  return {
    paths,
    /** The snapshot and what has happened since; undefined when there is no run. Refuses what it does not understand. */
    read: (): Promise<RunState | undefined> => readState(paths, replay),
    write: (state: RunState): Promise<void> =>
      writable(paths.state, writeFileAtomic(paths.state, `${JSON.stringify(state)}\n`, { durable: true })),
    /** Resolves when the events are on the disk. */
    append: (events: readonly NumberedEvent[]): Promise<void> =>
      writable(paths.events, appendEvents(paths.events, events)),
    /** All events of the run; none when the log is not whole. */
    events: (): Promise<NumberedEvent[]> => readable(paths.events, eventsAfter(paths.events, 0)),
    /** Takes the run for this process, or throws ALREADY_RUNNING; LOCK_FOREIGN when it is another host's. */
    lock: async (): Promise<() => Promise<void>> => {
      const release = await files.lock();
      await clearDrafts(project, paths);
      return release;
    },
    restore: files.restore,
    keepGraph: files.keepGraph,
    /** Removes all that this store has written. The caller holds the lock. */
    clear: (): Promise<void> => clearRun(paths),
    /** Makes the folder of the workers, for its user alone; throws FOLDER_UNSAFE. The caller holds the lock. */
    makeWorkers: (): Promise<void> => makeRunFolder(path.dirname(project.top), feature, place),
    /** Removes it; all workers have ended. */
    removeWorkers: (): Promise<void> => removeRunFolder(place),
    /** The live orchestrator, if there is one. */
    holder: (): Promise<LockHolder | undefined> => lockHolder(paths.lock),
    ask: async (request: RunRequest): Promise<void> => {
      const file = path.join(paths.requests, `${randomId()}.json`);
      await makeFolder(paths.requests);
      await writeFileAtomic(file, JSON.stringify(request), { durable: true });
    },
    /** Each stays until it is dropped. */
    /** A file that is no valid request has no task. */
    requests: (): Promise<RequestFile[]> => readRequests(paths.requests),
    /** Call this after their consequences are saved: else a crash in between would lose them. */
    dropRequests: (ids: Iterable<string>): Promise<void> => dropRequests(paths.requests, ids),
  };
}

/** Features that have a run, by their snapshots. */
export async function featuresWithState(project: ProjectPaths): Promise<string[]> {
  const names = jsonFiles(await readdir(project.state).catch(() => []));
  return names.map((name) => path.basename(name, '.json'));
}

/** Removes all of a run except its lock, which the caller holds. The snapshot goes last: until then this can be repeated. */
export async function clearRun(paths: FeaturePaths): Promise<void> {
  await rm(paths.logs, { recursive: true, force: true });
  for (const name of await readdir(paths.folder).catch(() => [])) {
    const file = path.join(paths.folder, name);
    // Another process that asks for the lock writes a draft beside it first.
    const isFreshDraft = file.startsWith(`${paths.lock}.`) && !(await isOldDraft(file));
    if (file === paths.lock || isFreshDraft) continue;
    await removeTree(file);
  }
  await rm(paths.state, { force: true });
}

/** Removes what killed processes have left half written. The caller holds the lock. */
async function clearDrafts(project: ProjectPaths, paths: FeaturePaths): Promise<void> {
  // The draft of an ignore file may be another start's: that start tries again.
  await removeDrafts(project.state, [path.basename(paths.state), '.gitignore']);
  await removeDrafts(project.logs, ['.gitignore']);
  await removeDrafts(paths.folder, [path.basename(paths.usedGraph)]);
  await removeDrafts(paths.requests);
  await removeLockDrafts(paths.lock);
}

async function readState(paths: FeaturePaths, replay: Replay): Promise<RunState | undefined> {
  const text = await readable(paths.state, readFile(paths.state).catch(undefinedIfMissing));
  if (text === undefined) return undefined;
  const snapshot = parseSnapshot(paths.state, text.toString());
  const events = await readable(paths.events, eventsAfter(paths.events, snapshot.events));
  return events.length === 0 ? snapshot : replayed(paths.events, () => replay(snapshot, events));
}

const readable = <Result>(file: string, reading: Promise<Result>): Promise<Result> =>
  reading.catch((error: unknown) => {
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  });

const writable = <Result>(file: string, writing: Promise<Result>): Promise<Result> =>
  writing.catch((error: unknown) => {
    throw libErrors.FILE_UNWRITABLE({ file, reason: reasonOf(error) }, { cause: error });
  });

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

/** Events of another program, or of a later version, may lead to an invalid state. */
function replayed(file: string, replay: () => RunState): RunState {
  let state;
  try {
    state = replay();
  } catch (error) {
    const problems = [`an event does not fit the state: ${reasonOf(error)}`];
    throw stateErrors.STATE_INVALID({ file, problems }, { cause: error });
  }
  return checked(file, state);
}

function checked(file: string, value: unknown): RunState {
  const parsed = runState.safeParse(value, { error: shapeProblem });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .slice(0, 20)
    .map((issue) => `${place(issue.path, 'the whole file')}: ${issue.message}`);
  throw stateErrors.STATE_INVALID({ file, problems });
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw stateErrors.STATE_INVALID({ file, problems: [jsonProblem(text, reasonOf(error))] }, { cause: error });
  }
}

type RequestFile = Partial<RunRequest> & { readonly id: string };

async function readRequests(folder: string): Promise<RequestFile[]> {
  const ids = jsonFiles(namesNow(folder)).toSorted();
  const texts = await Promise.all(ids.map((id) => readFile(path.join(folder, id), 'utf8').catch(() => undefined)));
  return ids.map((id, index) => ({ id, ...readJson(runRequest, texts[index]) }));
}

/** At once: an orchestrator looks in each turn, and a promise costs ten times what there is to do. */
function namesNow(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

async function dropRequests(folder: string, ids: Iterable<string>): Promise<void> {
  for (const id of ids) await rm(path.join(folder, id), { force: true });
}

/** Without drafts. */
const jsonFiles = (names: readonly string[]): string[] =>
  names.filter((name) => name.endsWith('.json') && !name.startsWith('.'));
