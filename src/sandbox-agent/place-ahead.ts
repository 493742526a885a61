import { closeSync, constants, ftruncateSync, mkdirSync, openSync, rmSync } from 'node:fs';
import type { FileAnswer, FileCall, PlaceAhead } from '../protocol/index.ts';
import { asUserAndGroup } from './as-user.ts';
import { inWords, writeWhole } from './files.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const NEW = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
const HOME = 0o700;
const FILE = 0o600;

export type PlacesAhead = ReturnType<typeof createPlacesAhead>;

/**
 * The home and the file of the next program, made ahead as its user: to become a user and root again takes longer than all
 * else that is done for a small program's file. `present`: the users whose files are not cleared away.
 */
export function createPlacesAhead(present: Set<number>) {
  let made: (PlaceAhead & { readonly fd: number }) | undefined;
  return {
    /** Whether they are there, for this user alone. */
    make: (place: PlaceAhead): boolean => {
      if (made?.file === place.file) return true;
      if (made !== undefined) {
        closeSync(made.fd);
        present.delete(made.uid);
      }
      const fd = openNew(place);
      made = fd === undefined ? undefined : { ...place, fd };
      if (made !== undefined) present.add(place.uid);
      return made !== undefined;
    },
    /** Undefined: the file is another one. */
    fill: (call: FileCall): FileAnswer | undefined => {
      if (made === undefined || call.op !== 'write' || call.path !== made.file || call.uid !== made.uid)
        return undefined;
      const { fd } = made;
      made = undefined;
      try {
        return writtenTo(fd, Buffer.from(call.content, 'base64'));
      } finally {
        closeSync(fd);
      }
    },
  };
}

/** Undefined when there is no room. */
function openNew({ uid, home, file }: PlaceAhead): number | undefined {
  try {
    return asUserAndGroup(uid, () => {
      mkdirSync(home, HOME);
      try {
        return openSync(file, NEW, FILE);
      } catch (error) {
        rmSync(home, { recursive: true });
        throw error;
      }
    });
  } catch {
    return undefined;
  }
}

/** A part of a program would be another program. */
function writtenTo(fd: number, content: Buffer): FileAnswer {
  try {
    writeWhole(fd, content);
    return {};
  } catch (error) {
    ftruncateSync(fd, 0);
    return { error: inWords(error) };
  }
}
