import { chmod, mkdir, readdir, readFile, rename, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { diskUsage } from '../containers/index.ts';
import {
  AppError,
  digestOf,
  isThere,
  makePrivateFolder,
  modifiedAt,
  randomId,
  readJson,
  reasonOf,
  removeTree,
  tryLock,
  undefinedIfMissing,
  withLock,
  writeFileAtomic,
} from '../lib/index.ts';
import { codeErrors } from './errors.ts';
import { ANY } from './package-names.ts';
import type { Wanted } from './package-names.ts';

/** A set that no session took for so long goes. */
const OLD_MS = 30 * 24 * 60 * 60_000;
/** A session that is idle for so long has ended, or gets its packages again. */
const UNUSED_MS = 24 * 60 * 60_000;
/** Of the limit: with less room, some is made. */
const SPARE_SHARE = 0.2;
/** Servers install one after the other. */
const LOCK_MS = 15 * 60_000;

/** What was wanted by name, and the versions that are there. */
const setFile = z.object({
  version: z.literal(1),
  maker: z.string(),
  wanted: z.record(z.string(), z.string()),
  versions: z.record(z.string(), z.string()),
});

/** Packages that were installed together. It never changes. */
export interface PackageSet {
  readonly key: string;
  /** A digest of all else that the packages depend on. */
  readonly maker: string;
  readonly wanted: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
}

export interface StoreSettings {
  /** Of all servers of this user. */
  readonly folder: string;
  readonly bytes: number;
  /** Names of packages whose install scripts may run. */
  readonly scripts: readonly string[];
  /** The image that installs, by its content: other ones have another Bun, or another system. */
  readonly image: string;
}

/** Where packages are installed. Nothing else is at work in these folders. */
export interface InstallPlace {
  /** Becomes the set. */
  readonly draft: string;
  /** What was downloaded before. */
  readonly downloads: string;
  /** The most that the installation may add to the disk. */
  readonly bytes: number;
}

export interface Installer {
  /** Ends what installers of killed servers may still do in the folders of this store. */
  removeLeft(): Promise<void>;
  /** Returns the versions. Throws PACKAGES_NOT_INSTALLED and PACKAGES_TOO_LARGE. */
  install(place: InstallPlace, wanted: Wanted): Promise<Readonly<Record<string, string>>>;
}

export type PackageStore = ReturnType<typeof packageStore>;

/** Sets of installed packages, shared by all sessions of all servers of a user; sessions only read them. */
export function packageStore(settings: StoreSettings) {
  const places = placesIn(settings.folder);
  return {
    /** Has a folder for each set, by its key. */
    sets: places.sets,
    /** Makes the folders, and removes sets that are old, unless another server is at work. Throws PACKAGES_FOLDER. */
    open: (): Promise<void> => inFolder(settings, () => open(places)),
    /** Makes the folders again when a person has removed them: then the answer is another one. Throws PACKAGES_FOLDER. */
    place: (): Promise<string> => inFolder(settings, () => placeOf(places)),
    /** A set that has them all, that was installed before. */
    find: (wanted: Wanted): Promise<PackageSet | undefined> => find(places, settings, wanted),
    list: (): Promise<readonly PackageSet[]> => listSets(places),
    /** Says that it is used; false when it is gone. */
    use: (set: PackageSet): Promise<boolean> => use(places, set),
    /** Installs them when they are not there. Throws PACKAGES_FULL, PACKAGES_FOLDER and what the installer throws. */
    take: (wanted: Wanted, installer: Installer, signal: AbortSignal): Promise<PackageSet> =>
      inFolder(settings, async () => {
        await makeFolders(places);
        const found = await find(places, settings, wanted);
        const adding = { wanted, installer, signal };
        return found ?? withLock(places.lock, LOCK_MS, () => add(places, settings, adding), signal);
      }),
  };
}

type Places = ReturnType<typeof placesIn>;

const placesIn = (folder: string) => ({
  folder,
  lock: path.join(folder, 'lock'),
  sets: path.join(folder, 'sets'),
  /** What is known of each set, written when it is complete. */
  known: path.join(folder, 'known'),
  downloads: path.join(folder, 'downloads'),
  drafts: path.join(folder, 'drafts'),
});

async function inFolder<Result>({ folder }: StoreSettings, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError || !isOfSystem(error)) throw error;
    throw codeErrors.PACKAGES_FOLDER({ folder, reason: reasonOf(error) }, { cause: error });
  }
}

const isOfSystem = (error: unknown): boolean => error instanceof Error && 'syscall' in error;

async function open(places: Places): Promise<void> {
  await makeFolders(places);
  // While another server installs packages, which may take minutes, code that needs none can run.
  const attempt = await tryLock(places.lock);
  if (!attempt.taken) return;
  try {
    await removeOld(places);
  } finally {
    await attempt.release();
  }
}

async function makeFolders({ folder, sets, known, downloads, drafts }: Places): Promise<void> {
  await makePrivateFolder(path.dirname(folder));
  await makePrivateFolder(folder);
  for (const made of [sets, known, downloads, drafts]) await mkdir(made, { recursive: true });
  // Sessions, which are other users, read it; no other user of this machine gets past its parents.
  await chmod(sets, 0o755);
}

async function placeOf(places: Places): Promise<string> {
  await makeFolders(places);
  const { dev, ino } = await stat(places.sets);
  return `${dev} ${ino}`;
}

async function removeOld(places: Places): Promise<void> {
  for (const key of await readdir(places.sets)) await removeUnused(places, key, OLD_MS);
}

/** Unless a session has taken it meanwhile: sessions hold no lock. */
async function removeUnused({ sets, known, drafts }: Places, key: string, unusedMs: number): Promise<void> {
  const isYoung = async (file: string): Promise<boolean> => Date.now() - (await modifiedAt(file)) <= unusedMs;
  const note = knownOf(known, key);
  if (await isYoung(note)) return;
  // Without its note no session takes the set. A session that took it just before has changed the time of the note.
  const aside = path.join(drafts, `${key}.json`);
  await rename(note, aside).catch(undefinedIfMissing);
  if (await isYoung(aside)) return rename(aside, note);
  await removeTree(path.join(sets, key));
  await removeTree(aside);
}

const knownOf = (known: string, key: string): string => path.join(known, `${key}.json`);

async function find(places: Places, settings: StoreSettings, wanted: Wanted): Promise<PackageSet | undefined> {
  const maker = makerOf(settings);
  const exact = await readSet(places, keyOf(maker, wanted));
  const set = exact ?? (await listSets(places)).find((one) => one.maker === maker && has(one, wanted));
  return set !== undefined && (await use(places, set)) ? set : undefined;
}

/** The modification time of its note is that of the last use. */
async function use({ sets, known }: Places, { key }: PackageSet): Promise<boolean> {
  const now = new Date();
  const isKnown = await utimes(knownOf(known, key), now, now).then(
    () => true,
    () => false,
  );
  return isKnown && (await isThere(path.join(sets, key)));
}

const has = ({ wanted: there }: PackageSet, wanted: Wanted): boolean =>
  [...wanted].every(([name, range]) => Object.hasOwn(there, name) && (range === ANY || there[name] === range));

async function listSets(places: Places): Promise<readonly PackageSet[]> {
  const files = (await readdir(places.known).catch(undefinedIfMissing)) ?? [];
  const sets = await Promise.all(files.map((file) => readSet(places, path.parse(file).name)));
  return sets.filter((set) => set !== undefined);
}

async function readSet({ known }: Places, key: string): Promise<PackageSet | undefined> {
  const text = await readFile(knownOf(known, key), 'utf8').catch(() => undefined);
  const set = readJson(setFile, text);
  return set && { key, maker: set.maker, wanted: set.wanted, versions: set.versions };
}

/** Other images and other scripts make other files. */
const makerOf = ({ image, scripts }: StoreSettings): string =>
  digestOf(JSON.stringify([image, scripts.toSorted()])).slice(0, 16);

function keyOf(maker: string, wanted: Wanted): string {
  const sorted = [...wanted].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return digestOf(JSON.stringify([maker, sorted])).slice(0, 24);
}

interface Adding {
  readonly wanted: Wanted;
  readonly installer: Installer;
  readonly signal: AbortSignal;
}

/** Under the lock: what is in the folder of drafts was left by a server that was killed. */
async function add(
  places: Places,
  settings: StoreSettings,
  { wanted, installer, signal }: Adding,
): Promise<PackageSet> {
  signal.throwIfAborted();
  const found = await find(places, settings, wanted);
  if (found !== undefined) return found;
  await installer.removeLeft();
  await clear(places.drafts);
  const bytes = await makeRoom(places, settings);
  const draft = path.join(places.drafts, randomId());
  await mkdir(draft);
  try {
    const versions = await installer.install({ draft, downloads: places.downloads, bytes }, wanted);
    return await publish(places, draft, { maker: makerOf(settings), wanted, versions });
  } finally {
    await removeTree(draft);
  }
}

async function clear(folder: string): Promise<void> {
  for (const entry of await readdir(folder)) await removeTree(path.join(folder, entry));
}

/** Returns how much room there is. Downloads go first, which only save time, and then the sets that were used least lately. */
async function makeRoom(places: Places, { bytes: limit }: StoreSettings): Promise<number> {
  const { folder, downloads } = places;
  const enough = limit * SPARE_SHARE;
  let bytes = await sizeOf(folder);
  if (limit - bytes < enough) {
    await clear(downloads);
    bytes = await sizeOf(folder);
  }
  for (const key of await leastUsed(places)) {
    if (limit - bytes >= enough) break;
    await removeUnused(places, key, UNUSED_MS);
    bytes = await sizeOf(folder);
  }
  if (bytes >= limit) throw codeErrors.PACKAGES_FULL({ folder, bytes, limit });
  return limit - bytes;
}

/** Sets that no session can be using now, the longest unused first. */
async function leastUsed({ sets, known }: Places): Promise<readonly string[]> {
  const keys = await readdir(sets);
  const used = await Promise.all(keys.map(async (key) => ({ key, at: await modifiedAt(knownOf(known, key)) })));
  const unused = used.filter(({ at }) => Date.now() - at > UNUSED_MS);
  return unused.toSorted((one, other) => one.at - other.at).map(({ key }) => key);
}

const sizeOf = async (folder: string): Promise<number> => (await diskUsage([folder])).bytes;

/** Complete when it is known: until then a folder of the same name is a remainder. */
async function publish(
  { sets, known }: Places,
  draft: string,
  { maker, wanted, versions }: Pick<PackageSet, 'maker' | 'versions'> & { readonly wanted: Wanted },
): Promise<PackageSet> {
  const key = keyOf(maker, wanted);
  const place = path.join(sets, key);
  await removeTree(place);
  await rename(draft, place);
  await chmod(place, 0o755);
  const set = { maker, wanted: Object.fromEntries(wanted), versions };
  await writeFileAtomic(knownOf(known, key), JSON.stringify({ version: 1, ...set }), { durable: true, mode: 0o600 });
  return { key, ...set };
}
