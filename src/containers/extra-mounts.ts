import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Mount } from '../engines/index.ts';
import { INSIDE } from '../protocol/index.ts';

export interface WishedMount {
  readonly source: string;
  readonly target: string;
  readonly read_only: boolean;
}

interface AllowedFolder {
  readonly folder: string;
  readonly writable: boolean;
}

interface MountPlaces {
  /** The user's home folder, then other folders that may be called so. */
  readonly homes: readonly [string, ...string[]];
  /** Root of the repository and its git directory. */
  readonly root: string;
  readonly commonDir: string;
  /** Where its objects are read from, borrowed ones too. */
  readonly objects: readonly string[];
  /** Folders of ours in the user's home. */
  readonly own: readonly string[];
  /** What the user lets repositories mount. */
  readonly allowed: readonly AllowedFolder[];
  /** The file that says so. */
  readonly settingsFile: string;
  /** Where the engine listens: a socket, or an address that is no file; null when no engine was found. */
  readonly engine: string | null;
}

/** Keys, accounts and settings of people. */
const PRIVATE = [
  '.ssh .aws .config .claude .claude.json .gnupg .kube .docker .azure .netrc .npmrc .git-credentials .pypirc',
  '.password-store .mozilla .local/share/keyrings Library/Keychains',
].flatMap((names) => names.split(' '));
/** The machine itself: a worker that can write there, or use an engine, controls it. */
const SYSTEM = ['/proc', '/sys', '/dev', '/run', '/var/run', '/var/lib/docker', '/etc', '/boot'];
/** Places inside that are taken, by us and by the system. */
const TAKEN = [
  [INSIDE.worktree, INSIDE.gitDir, INSIDE.objects, INSIDE.home, INSIDE.caches, '/run', '/opt/mahabharatha', '/tmp'],
  ['/proc', '/sys', '/dev', '/etc', '/bin', '/sbin', '/lib', '/lib64', '/usr', '/var/run'],
].flat();

type BindMount = Mount & { readonly kind: 'bind' };

/** The mounts of the configuration, and a text for each that is refused. */
export async function extraMounts(
  wished: readonly WishedMount[],
  places: MountPlaces,
): Promise<{ readonly mounts: readonly Mount[]; readonly problems: readonly string[] }> {
  const forbidden = await forbiddenPlaces(places);
  const allowed = await realFolders(places);
  const checked = await Promise.all(wished.map((one) => checkMount(one, places, forbidden)));
  const answers = checked.map((mount) =>
    typeof mount === 'string' ? mount : (notAllowed(mount, allowed, places.settingsFile) ?? mount),
  );
  const fine = answers.map((answer) => (typeof answer === 'string' ? undefined : answer));
  const problems = answers.map((answer, index) =>
    typeof answer === 'string' ? answer : clashWith(answer, fine.slice(0, index), fine),
  );
  return {
    mounts: fine.filter((mount) => mount !== undefined),
    problems: problems.flatMap((problem, index) =>
      problem === undefined ? [] : [`workers.container.mounts[${index}] (${wished[index]?.source}): ${problem}`],
    ),
  };
}

async function checkMount(
  wish: WishedMount,
  { homes, root }: MountPlaces,
  forbidden: readonly string[],
): Promise<BindMount | string> {
  const named = path.resolve(root, homePath(wish.source, homes));
  // A link may lead anywhere: only its end counts.
  const source = await realpath(named).catch(() => undefined);
  if (source === undefined) return 'there is no such folder or file';
  const near = forbidden.find((one) => touches(source, one));
  if (near !== undefined) return `${near} is never mounted, nor what it is in`;
  const kind = await stat(source);
  if (!kind.isDirectory() && !kind.isFile()) return 'only folders and files can be mounted, no sockets or devices';
  const target = path.posix.join('/', wish.target, '.').replace(/(?<=.)\/$/, '');
  const taken = TAKEN.find((own) => touches(target, own));
  if (taken !== undefined || target === '/') return `${target} is not free inside: ${taken ?? target} is there`;
  return { kind: 'bind', source, target, readOnly: wish.read_only };
}

/** Links in the user's list count by their end, too. A folder that is missing allows nothing. */
async function realFolders({ allowed, homes }: MountPlaces): Promise<AllowedFolder[]> {
  const found = await Promise.all(
    allowed.map(async ({ folder, writable }) => {
      const real = await realpath(homePath(folder, homes)).catch(() => undefined);
      return real === undefined ? [] : [{ folder: real, writable }];
    }),
  );
  return found.flat();
}

/** The repository names what it wants; only the user's list allows it. Of nested folders in the list the innermost counts. */
function notAllowed(mount: BindMount, allowed: readonly AllowedFolder[], file: string): string | undefined {
  const around = allowed
    .filter(({ folder }) => within(mount.source, folder))
    .toSorted((one, other) => other.folder.length - one.folder.length)[0];
  if (around === undefined) {
    return `you have not allowed any repository to mount ${mount.source}; if you want that, add it under mounts.allow in ${file}`;
  }
  if (mount.readOnly || around.writable) return undefined;
  return `you have allowed ${around.folder} for reading only; say "read_only: true" here, or "writable: true" of it in ${file}`;
}

function homePath(folder: string, homes: MountPlaces['homes']): string {
  return folder.replace(/^~(?=\/|$)/, () => homes[0]);
}

/** Why a mount cannot be made beside the others. */
function clashWith(
  mount: BindMount,
  before: readonly (BindMount | undefined)[],
  all: readonly (BindMount | undefined)[],
): string | undefined {
  const there = before.find((other) => other !== undefined && touches(mount.target, other.target));
  if (there !== undefined) return `${mount.target} is not free inside: ${there.target} is another mount`;
  // A worker that can write the folder around it can put a link in its place, and the next container would follow that.
  const around = all.find(
    (other) =>
      other !== undefined && !other.readOnly && other.source !== mount.source && within(mount.source, other.source),
  );
  return around === undefined ? undefined : `it is in ${around.source}, which workers may write`;
}

async function forbiddenPlaces({ homes, commonDir, root, objects, engine, own }: MountPlaces): Promise<string[]> {
  const all = [
    ...homes.flatMap((home) => PRIVATE.map((name) => path.join(home, name))),
    ...SYSTEM,
    ...own,
    commonDir,
    // In a worktree it is a file that names the repository's place.
    path.join(root, '.git'),
    ...objects,
    path.join(root, '.mahabharatha'),
    ...(engine !== null && path.isAbsolute(engine) ? [engine] : []),
    // Unless it is the home of the user.
    ...(homes.some((home) => within(home, '/root')) ? [] : ['/root']),
  ];
  const real = await Promise.all(all.map((one) => realpath(one).catch(() => one)));
  return [...new Set([...all, ...real])];
}

/** One is the other, or is in it. */
function touches(one: string, other: string): boolean {
  return within(one, other) || within(other, one);
}

function within(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
}
