import type { Readable } from 'node:stream';
import { readFirstLine, reasonOf } from '../lib/index.ts';
import { handover } from '../protocol/index.ts';
import type { Handover } from '../protocol/index.ts';

/** Its message never quotes the line, and it has no cause, because a parser quotes what it reads. */
class HandoverUnreadable extends Error {
  override readonly name = 'HandoverUnreadable';

  constructor(reason: string) {
    super(`The handover on stdin cannot be used: ${reason}.`);
  }
}

/** Reads only the first line of stdin; the next reader resumes the stream. */
export async function readHandover(stdin: Readable, limitBytes: number, timeoutMs: number): Promise<Handover> {
  const line = await readFirstLine(stdin, { limitBytes, timeoutMs }).catch((error: unknown) => {
    throw new HandoverUnreadable(reasonOf(error));
  });
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new HandoverUnreadable('it is not JSON');
  }
  const parsed = handover.safeParse(value);
  if (parsed.success) return parsed.data;
  const places = parsed.error.issues.map(({ path }) => path.join('.') || 'the whole');
  throw new HandoverUnreadable(`not as it should be: ${places.join(', ')}`);
}
