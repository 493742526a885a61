import { randomUUID } from 'node:crypto';
import { SANDBOX } from '../protocol/index.ts';
import type { ForkWish } from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';
import { commandFor } from './languages.ts';
import type { Language } from './languages.ts';
import type { Sandbox } from './sandbox.ts';

/** Each execution has a user of its own: of so many, none comes again while anything of it could still be there. */
const USERS = { first: 20_000, last: 59_999 };
const PUT_AWAY = ['/tmp', '/dev/shm'];
/** Its files are for its user alone, and it has a folder of its own for what programs keep in their home. */
const PRIVATE = 'umask 077; mkdir "$HOME"; exec "$@"';

/** What one execution has of its own. */
export interface Place {
  readonly uid: number;
  readonly file: string;
  readonly home: string;
}

let user = USERS.first;

export function newPlace(extension: string): Place {
  user = user >= USERS.last ? USERS.first : user + 1;
  const id = randomUUID();
  return { uid: user, file: `${SANDBOX.tmp}/exec_${id}${extension}`, home: `${SANDBOX.tmp}/home_${id}` };
}

/** Throws PROGRAM_REFUSED. */
export async function writeProgram(sandbox: Sandbox, { uid, file }: Place, code: string): Promise<void> {
  const content = Buffer.from(code).toString('base64');
  const place = { uid, root: SANDBOX.tmp, path: file };
  const answer = await sandbox.files({
    op: 'write',
    ...place,
    upload: uid,
    content,
    more: false,
    last: true,
    mode: 0o600,
  });
  if ('error' in answer) throw sandboxErrors.PROGRAM_REFUSED({ reason: answer.error.message });
}

interface ProgramWishes {
  readonly language: Language;
  readonly place: Place;
  readonly fork: ForkWish | null;
  readonly timeoutMs: number;
}

export function programOf(
  sandbox: Sandbox,
  { language, place: { uid, file, home }, fork, timeoutMs }: ProgramWishes,
): Parameters<Sandbox['run']>[0] {
  const env = { ...sandbox.env, HOME: home, TMPDIR: home };
  const argv = ['/bin/sh', '-c', PRIVATE, 'sh', ...commandFor(language, file)] as const;
  return { argv, fork, env, cwd: SANDBOX.tmp, home, uid, stdin: null, timeoutMs, graceMs: 0, clears: PUT_AWAY };
}
