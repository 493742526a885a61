import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Mount } from '../../engines/index.ts';
import { INSIDE } from '../../protocol/index.ts';

export interface WishedMount {
  readonly source: string;
  readonly target: string;
  readonly read_only: boolean;
}

interface MountPlaces {
  readonly home: string;
  /** Root of the repository and its git directory. */
  readonly root: string;
  readonly commonDir: string;
}

/** Keys, accounts and settings of people; a worker has no business there. */
const PRIVATE = ['.ssh', '.aws', '.config', '.claude', '.gnupg', '.kube', '.docker', '.azure', '.netrc', '.npmrc'];
/** The machine itself; who may write there, or talk to an engine, is its master. */
const SYSTEM = ['/proc', '/sys', '/dev', '/run', '/var/run', '/var/lib/docker', '/etc', '/boot', '/root'];
/** Ours, and the system's own. */
const TAKEN = [
  ...[INSIDE.worktree, INSIDE.gitDir, INSIDE.objects, INSIDE.home, INSIDE.caches, '/run', '/opt/mahabharatha'],
  ...['/proc', '/sys', '/dev', '/etc', '/bin', '/sbin', '/lib', '/usr'],
];

/** The user's own mounts, or what is wrong with them: text for each, all at once. */
export async function extraMounts(
  wished: readonly WishedMount[],
  places: MountPlaces,
): Promise<{ readonly mounts: readonly Mount[]; readonly problems: readonly string[] }> {
  const answers = await Promise.all(wished.map((one, index) => checkMount(one, index, places)));
  return {
    mounts: answers.flatMap((answer) => (typeof answer === 'string' ? [] : [answer])),
    problems: answers.filter((answer) => typeof answer === 'string'),
  };
}

async function checkMount(wish: WishedMount, index: number, places: MountPlaces): Promise<Mount | string> {
  const say = (problem: string): string => `workers.container.mounts[${index}] (${wish.source}): ${problem}`;
  const named = path.resolve(places.root, wish.source.replace(/^~(?=\/|$)/, places.home));
  // A link may lead anywhere: what counts is where it ends.
  const source = await realpath(named).catch(() => undefined);
  if (source === undefined) return say('there is no such folder or file');
  const forbidden = await forbiddenNear(source, places);
  if (forbidden !== undefined) return say(`${forbidden} is never mounted, nor what it is in`);
  const target = path.posix.normalize(wish.target);
  const taken = TAKEN.find((own) => touches(target, own));
  if (taken !== undefined || target === '/') return say(`${target} is not free inside: ${taken ?? target} is there`);
  return { kind: 'bind', source, target, readOnly: wish.read_only };
}

async function forbiddenNear(source: string, { home, commonDir, root }: MountPlaces): Promise<string | undefined> {
  const all = [...PRIVATE.map((name) => path.join(home, name)), ...SYSTEM, commonDir, path.join(root, '.mahabharatha')];
  const real = await Promise.all(all.map((one) => realpath(one).catch(() => one)));
  return [...all, ...real].find((one) => touches(source, one));
}

/** One is the other, or is in it. */
function touches(one: string, other: string): boolean {
  return within(one, other) || within(other, one);
}

function within(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
}
