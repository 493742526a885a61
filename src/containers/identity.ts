/** The users that containers of one owner run as. */
export interface Identity {
  /** Of the owner's helpers, such as the egress proxy; also of its other containers, unless they are `apart`. */
  readonly uid: number;
  readonly gid: number;
  /** Each container is a user of its own, so that none can use up what the system gives to one user. */
  readonly apart: boolean;
}

/** Between the ids that systems give to people and those that they give to their own containers. */
const FIRST_UID = 70_000;
const LAST_UID = 99_999;
/** One for each worker that a run may have, and one for the helpers. */
const NEEDED = 65;
const STEP = 1000;

/** What `/etc/passwd`, `/etc/group` and `/etc/subuid` say. */
export interface KnownUsers {
  readonly passwd: string;
  readonly group: string;
  readonly subuid: string;
}

/** Pure. Our own user; for root, users that the system does not know and that have no rights. */
export function containerIdentity(uid: number, gid: number, known: KnownUsers): Identity {
  if (uid !== 0) return { uid, gid: gid === 0 ? uid : gid, apart: false };
  const taken = takenIds(known);
  let first = FIRST_UID;
  while (first + STEP <= LAST_UID && taken.some(([from, to]) => from < first + NEEDED && first <= to)) first += STEP;
  return { uid: first, gid: first, apart: true };
}

/** Pure. */
export function uidOf({ uid, apart }: Pick<Identity, 'uid' | 'apart'>, index: number): number {
  return apart ? uid + 1 + index : uid;
}

/** Pure. For people. */
export function identityInWords(who: Identity): string {
  return who.apart ? `users ${uidOf(who, 0)} to ${who.uid + NEEDED - 1}` : `user ${who.uid}`;
}

/** First and last of each range. */
function takenIds({ passwd, group, subuid }: KnownUsers): [number, number][] {
  const third = (text: string): [number, number][] =>
    fieldsOf(text).map(([, , id]): [number, number] => [Number(id), Number(id)]);
  const ranges = fieldsOf(subuid).map(([, from, count]): [number, number] => [
    Number(from),
    Number(from) + Number(count) - 1,
  ]);
  return [...third(passwd), ...third(group), ...ranges];
}

const fieldsOf = (text: string): string[][] => text.split('\n').map((line) => line.split(':'));
