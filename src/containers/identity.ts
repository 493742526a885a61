/** The user that containers of one owner run as. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

/** Between the ids that systems give to people and those that they give to their own containers. */
const FIRST_UID = 70_000;
const LAST_UID = 99_999;
const STEP = 1000;

/** What `/etc/passwd`, `/etc/group` and `/etc/subuid` say. */
export interface KnownUsers {
  readonly passwd: string;
  readonly group: string;
  readonly subuid: string;
}

/** Pure. Our own user; for root, one that the system does not know and that has no rights. */
export function containerIdentity(uid: number, gid: number, known: KnownUsers): Identity {
  if (uid !== 0) return { uid, gid: gid === 0 ? uid : gid };
  const taken = takenIds(known);
  let free = FIRST_UID;
  while (free + STEP <= LAST_UID && taken.some(([from, to]) => from <= free && free <= to)) free += STEP;
  return { uid: free, gid: free };
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
