import { lchown, readFile, stat, writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import path from 'node:path';
import { LABEL } from '../containers/index.ts';
import type { Identity } from '../containers/index.ts';
import { engineErrors } from '../engines/errors.ts';
import type { ContainerSpec, Engine, EngineInfo, Labels, Mount } from '../engines/index.ts';
import {
  digestOf,
  hasCode,
  makeFolder,
  makePrivateFolder,
  randomId,
  readIfThere,
  reasonOf,
  removeTree,
  writeFileAtomic,
} from '../lib/index.ts';
import { SNAPSHOT_DRAFT } from '../protocol/index.ts';

const MIB = 1024 ** 2;
const INSIDE = '/trial';
const TRIAL_MS = 60_000;
/** In the folder of snapshots, and none itself. */
const RECORD = '.engine';
const ROLE = 'overlay-trial';
/** Characters that separate the folders of an overlay. */
const NO_LAYER = /[\s,:"\\]/;

/** Whether a container can have an overlay of folders of this machine; if not, why. */
export type OverlayAnswer = { readonly able: true } | { readonly able: false; readonly reason: string };

export interface OverlayTrial {
  readonly engine: Pick<Engine, 'createContainer' | 'startContainer' | 'waitContainer' | 'removeContainer'>;
  readonly info: Pick<EngineInfo, 'id' | 'version' | 'endpoint'>;
  /** One with a shell. */
  readonly image: string;
  readonly users: Identity;
  /** As workers have it. */
  readonly runtime: string | null;
  readonly labels: Labels;
  /** The folder of snapshots. */
  readonly top: string;
  /** On the same disk: what a killed trial leaves there is removed with the rest of its run. */
  readonly place: string;
}

/** Tries it once for each engine: that it can is remembered, that it cannot is tried again by the next run. */
export async function tryOverlayOnce(trial: OverlayTrial, stop: AbortSignal): Promise<OverlayAnswer> {
  await makePrivateFolder(trial.top);
  const record = path.join(trial.top, RECORD);
  const facts = await factsOf(trial);
  if ((await readIfThere(record))?.toString('utf8') === facts) return { able: true };
  const answer = await tryOverlay(trial, stop);
  if (answer.able) await writeFileAtomic(record, facts, { durable: false });
  return answer;
}

async function factsOf({ info, runtime, users, top }: OverlayTrial): Promise<string> {
  const { dev } = await stat(top);
  return digestOf(JSON.stringify([info.id, info.endpoint, info.version, release(), runtime, users.uid, dev]));
}

/**
 * Starts a container that writes into an overlay. When that fails and a container with a plain folder starts, it is the
 * overlay that the engine refuses. Throws what prevents both.
 */
export async function tryOverlay(trial: OverlayTrial, stop: AbortSignal): Promise<OverlayAnswer> {
  if (NO_LAYER.test(trial.top))
    return { able: false, reason: `the name of ${trial.top} has a character that separates folders of an overlay` };
  const folder = path.join(trial.place, `${SNAPSHOT_DRAFT}${randomId()}`);
  const [lower, upper, work] = ['lower', 'upper', 'work'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ];
  const word = randomId();
  const signal = AbortSignal.any([stop, AbortSignal.timeout(TRIAL_MS)]);
  try {
    await makePrivateFolder(trial.place);
    for (const one of [lower, upper, work]) await makeFolder(one);
    await writeFile(path.join(lower, 'below'), word);
    await giveTo(trial.users, [upper, work]);
    const overlay: Mount = { kind: 'overlay', lower: [lower], upper, work, target: INSIDE };
    const refused = await refusalOf(trial, overlay, signal);
    if (refused === undefined) return judge(await readFile(path.join(upper, 'above'), 'utf8').catch(() => ''), word);
    const plain: Mount = { kind: 'bind', source: lower, target: INSIDE, readOnly: true };
    const other = await refusalOf(trial, plain, signal);
    if (other !== undefined) throw other;
    return { able: false, reason: reasonOf(refused) };
  } finally {
    await removeTree(folder);
  }
}

/** A machine of the engine's own may have folders of the same names. */
function judge(written: string, word: string): OverlayAnswer {
  return written === word
    ? { able: true }
    : { able: false, reason: 'what a container writes into an overlay is not seen here' };
}

/** Why the engine does not start a container with this mount; undefined when it does. */
async function refusalOf(trial: OverlayTrial, mount: Mount, signal: AbortSignal): Promise<Error | undefined> {
  const { engine } = trial;
  let id: string | undefined;
  try {
    id = await engine.createContainer(specOf(trial, mount));
    await engine.startContainer(id);
    await engine.waitContainer(id, signal);
    return undefined;
  } catch (error) {
    if (error instanceof Error && hasCode(error, engineErrors.ENGINE_FAILED)) return error;
    throw error;
  } finally {
    if (id !== undefined) await engine.removeContainer(id);
  }
}

function specOf({ image, users, runtime, labels }: OverlayTrial, mount: Mount): ContainerSpec {
  return {
    name: `mahabharatha-trial-${randomId()}`,
    image,
    command: ['/bin/sh', '-c', 'test -w . && cat below > above'],
    env: {},
    ...users,
    workdir: INSIDE,
    labels: { ...labels, [LABEL.role]: ROLE },
    mounts: [mount],
    network: 'none',
    memoryBytes: 128 * MIB,
    cpus: 1,
    pids: 32,
    fileBytes: MIB,
    stdin: false,
    runtime,
    logBytes: null,
  };
}

/** Root's containers run as another user. */
async function giveTo({ uid, gid }: Identity, folders: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0) return;
  for (const folder of folders) await lchown(folder, uid, gid);
}
