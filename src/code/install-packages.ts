import { chown, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { bind, diskUsage } from '../containers/index.ts';
import type { Labels } from '../engines/index.ts';
import { createTail, digestOf, freeBytesIn, hasCode, inBytes, randomId, readJson, sleep } from '../lib/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import { sandboxErrors } from '../sandbox/errors.ts';
import { startSandbox } from '../sandbox/index.ts';
import type { Sandbox, SandboxHome, SessionNetwork } from '../sandbox/index.ts';
import { codeErrors } from './errors.ts';
import type { Wanted } from './package-names.ts';
import { PACKAGES, TOOLS } from './places.ts';
import type { InstallPlace } from './package-store.ts';

/** On the container of an installation. */
const ROLE = 'installer';
/** For root, whose programs in containers are never root. */
const UID = 70_002;
const DOWNLOADS = '/downloads';
const MB = 1024 ** 2;
const LIMITS = { cpus: 2, memoryBytes: 1024 * MB, diskBytes: 512 * MB, processes: 128 };
const TIME_MS = 5 * 60_000;
/** A registry that is silent for so long does not answer any more. */
const STALLED_MS = 60_000;
/** Between two looks at how large the packages are. */
const LOOK_MS = 1000;
const LAST_WORDS = 2000;
/** With less of it free, a disk counts as full. */
const FULL_BYTES = 32 * MB;

const versionsFile = z.record(z.string(), z.string().regex(/^[\w.+-]{1,100}$/));

export interface InstallSettings {
  readonly home: SandboxHome;
  /** The way to the registries of the user's npm, and to nothing else. */
  readonly network: SessionNetwork;
  /** With Bun. */
  readonly image: string;
  /** The folder of the store. */
  readonly store: string;
  /** Names of packages whose install scripts may run. */
  readonly scripts: readonly string[];
}

/** On the container of an installation: in which store. */
const LABEL_OF_STORE = 'mahabharatha.packages';
const labelsOf = ({ store }: InstallSettings): Labels => ({ [LABEL_OF_STORE]: digestOf(`${hostname()} ${store}`) });

/** The caller holds the lock of the store, so no living server has an installation there. */
export async function removeLeftInstallers(settings: InstallSettings): Promise<void> {
  const { engine } = settings.home;
  const left = await engine.listContainers(labelsOf(settings));
  await Promise.all(left.map(({ id }) => engine.removeContainer(id)));
}

/**
 * Installs packages in a container of its own, which no code of a session has ever run in. What it leaves is read by
 * sessions alone, never by this process. Returns the versions. Throws PACKAGES_NOT_INSTALLED and PACKAGES_TOO_LARGE.
 */
export async function installPackages(
  settings: InstallSettings,
  place: InstallPlace,
  { wanted, signal }: { readonly wanted: Wanted; readonly signal: AbortSignal },
): Promise<Readonly<Record<string, string>>> {
  signal.throwIfAborted();
  const uid = await prepare(place, wanted, settings);
  const client = settings.network.enter();
  if (client === undefined) throw failed(wanted, 'too many installations are under way');
  try {
    const sandbox = await startSandbox(settings.home, wishOf(settings, place, { uid, client }));
    try {
      const program = programIn(sandbox, uid);
      const env = await settings.network.env();
      await watched(place, { wanted, signal }, (sink) => program(argumentsFor(settings), env, sink));
      return await versionsIn(program, wanted);
    } finally {
      await sandbox.close();
    }
  } catch (error) {
    throw hasCode(error, sandboxErrors.SANDBOX_GONE) ? failed(wanted, error.facts.reason) : error;
  } finally {
    settings.network.leave(client);
  }
}

const failed = (wanted: Wanted, reason: string): Error =>
  codeErrors.PACKAGES_NOT_INSTALLED({ packages: [...wanted.keys()], reason });

/** Makes what the installer begins with, and says as which user it is to run: files that it makes are to be ours. */
async function prepare(
  { draft, downloads }: InstallPlace,
  wanted: Wanted,
  { scripts }: InstallSettings,
): Promise<number> {
  const own = process.getuid?.() ?? 0;
  const uid = own === 0 ? UID : own;
  const file = path.join(draft, 'package.json');
  // A list, however short, takes the place of Bun's own one.
  const content = { dependencies: Object.fromEntries(wanted), trustedDependencies: [...scripts] };
  await writeFile(file, JSON.stringify(content));
  if (own === 0) for (const each of [draft, file, downloads]) await chown(each, uid, uid);
  return uid;
}

/** Scripts could leave something in the downloads of others. */
const sharesDownloads = ({ scripts }: InstallSettings): boolean => scripts.length === 0;

function wishOf(
  settings: InstallSettings,
  { draft, downloads }: InstallPlace,
  { uid, client }: { readonly uid: number; readonly client: number },
): Parameters<typeof startSandbox>[1] {
  const session = randomId();
  return {
    image: settings.image,
    name: `mahabharatha-installer-${session}`,
    session,
    role: ROLE,
    uid,
    limits: LIMITS,
    labels: labelsOf(settings),
    wayOut: { client, reach: undefined },
    cache: null,
    mounts: [bind(draft, PACKAGES, false), ...(sharesDownloads(settings) ? [bind(downloads, DOWNLOADS, false)] : [])],
  };
}

function argumentsFor(settings: InstallSettings): readonly [string, ...string[]] {
  const downloads = sharesDownloads(settings) ? DOWNLOADS : `${SANDBOX.home}/downloads`;
  const scripts = settings.scripts.length === 0 ? ['--ignore-scripts'] : [];
  const fixed = ['--no-progress', '--linker=hoisted', '--backend=copyfile', `--cache-dir=${downloads}`];
  return ['bun', 'install', ...fixed, ...scripts];
}

type Sink = Parameters<Sandbox['run']>[1];
type Program = (
  argv: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
  sink: Sink,
) => ReturnType<Sandbox['run']>;

const programIn =
  (sandbox: Sandbox, uid: number): Program =>
  (argv, env, sink) => {
    const at = { cwd: PACKAGES, home: SANDBOX.home, uid, isPrivate: false };
    const limits = { dataBytes: null, stdin: null, timeoutMs: TIME_MS, graceMs: 0, clears: [] };
    return sandbox.run({ argv, env: { ...sandbox.env, ...env, HOME: SANDBOX.home }, ...at, ...limits }, sink);
  };

/** Ends the installation when it is called off, or when it takes too much of the disk. */
async function watched(
  { draft, downloads, bytes: limit }: InstallPlace,
  { wanted, signal }: { readonly wanted: Wanted; readonly signal: AbortSignal },
  start: (sink: Sink) => ReturnType<Sandbox['run']>,
): Promise<void> {
  const words = createTail(LAST_WORDS);
  const running = start((stream, chunk) => void (stream === 'stderr' && words.push(chunk.toString('utf8'))));
  const over = new AbortController();
  const watching = watchGrowth([draft, downloads], limit, over.signal);
  watching.then(
    (growth) => growth !== 'fine' && running.kill(),
    () => running.kill(),
  );
  signal.addEventListener('abort', running.kill, { once: true });
  if (signal.aborted) running.kill();
  try {
    const { code, endedBy, problem } = await running.end;
    over.abort();
    signal.throwIfAborted();
    const growth = await watching;
    if (growth === 'too-large') throw codeErrors.PACKAGES_TOO_LARGE({ packages: [...wanted.keys()], limit });
    if (growth === 'stalled') throw failed(wanted, `nothing has come from the registry for ${STALLED_MS / 1000} s`);
    if (endedBy === 'timeout') throw failed(wanted, `it was ended after ${TIME_MS / 60_000} minutes`);
    if (code !== 0) throw refused(wanted, problem ?? wordsOf(words.text(), await freeBytesIn(draft)));
  } finally {
    over.abort();
    signal.removeEventListener('abort', running.kill);
  }
}

/** Looks until something is wrong, and once more when it is over. */
async function watchGrowth(
  folders: readonly string[],
  limit: number,
  over: AbortSignal,
): Promise<'fine' | 'too-large' | 'stalled'> {
  const { bytes: before } = await diskUsage(folders);
  let last = { bytes: before, at: performance.now() };
  for (;;) {
    const isLast = over.aborted;
    const { bytes } = await diskUsage(folders);
    if (bytes - before > limit) return 'too-large';
    if (isLast) return 'fine';
    if (bytes !== last.bytes) last = { bytes, at: performance.now() };
    if (performance.now() - last.at > STALLED_MS) return 'stalled';
    await sleep(LOOK_MS, over);
  }
}

/** The installer does not say that a disk is full. */
function wordsOf(said: string, free: number): string {
  const lines = said.split('\n');
  const complaints = lines.filter((line) => line.includes('error'));
  const words = (complaints.length > 0 ? complaints : lines).join('\n').trim();
  return free >= FULL_BYTES ? words : `${words} (the disk of the packages is full: ${inBytes(free)} are free)`;
}

/** Names those that the installer complains of. */
function refused(wanted: Wanted, said: string): Error {
  const reason = said.trim() || 'nothing';
  const named = [...wanted.keys()].filter((name) => isNamed(reason, name));
  return codeErrors.PACKAGES_NOT_INSTALLED({ packages: named.length > 0 ? named : [...wanted.keys()], reason });
}

/** As a word of its own: "a" is named neither by "no-such-a" nor by "@scope/a". */
const isNamed = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w@.-]|@[\\w.-]+/)${name.replaceAll('.', '\\.')}(?![\\w/-])`).test(text.replaceAll(/%2f/gi, '/'));

/** Throws PACKAGES_NOT_INSTALLED when one is missing. */
async function versionsIn(program: Program, wanted: Wanted): Promise<Readonly<Record<string, string>>> {
  const names = [...wanted.keys()];
  let text = '';
  const argv = ['bun', TOOLS.listVersions, `${PACKAGES}/node_modules`, ...names] as const;
  await program(argv, {}, (stream, chunk) => {
    if (stream === 'stdout' && text.length < MB) text += chunk.toString('utf8');
  }).end;
  const told = readJson(versionsFile, text) ?? {};
  const missing = names.filter((name) => !Object.hasOwn(told, name));
  if (missing.length > 0)
    throw codeErrors.PACKAGES_NOT_INSTALLED({ packages: missing, reason: 'it is missing after the installation' });
  return Object.fromEntries(names.map((name) => [name, told[name] ?? '']));
}
