import type { Readable } from 'node:stream';
import { inSeconds, startTimer } from '../lib/index.ts';
import { handover } from '../protocol/index.ts';
import type { Handover } from '../protocol/index.ts';

/** Its message never quotes the line, and it has no cause, because a parser quotes what it reads. */
class HandoverUnreadable extends Error {
  override readonly name = 'HandoverUnreadable';

  constructor(reason: string) {
    super(`The handover on stdin cannot be used: ${reason}.`);
  }
}

/**
 * Reads only the first line of stdin. Its line end, what follows it and the end of the stream are left for the next reader,
 * which resumes the stream.
 */
export async function readHandover(stdin: Readable, limitBytes: number, timeoutMs: number): Promise<Handover> {
  const line = await firstLine(stdin, limitBytes, timeoutMs);
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

function firstLine(stdin: Readable, limitBytes: number, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (data: Buffer | string): void => {
      const chunk = Buffer.isBuffer(data) ? data : Buffer.from(data);
      const cut = chunk.indexOf(10);
      bytes += cut === -1 ? chunk.length : cut;
      if (bytes > limitBytes) return fail(`it has more than ${limitBytes} bytes`);
      if (cut === -1) return void chunks.push(chunk);
      settle();
      // At least the line end: an empty stream would report its end while it is paused, when nothing listens yet.
      stdin.unshift(chunk.subarray(cut));
      resolve(Buffer.concat([...chunks, chunk.subarray(0, cut)]).toString('utf8'));
    };
    const ended = (): void => fail('stdin ended before it was whole');
    const broken = (): void => fail('stdin could not be read');
    const timer = startTimer(timeoutMs, () => fail(`it has not come within ${inSeconds(timeoutMs)}`));
    const settle = (): void => {
      timer.cancel();
      stdin.pause();
      stdin.off('data', take).off('end', ended).off('close', ended).off('error', broken);
    };
    const fail = (reason: string): void => {
      settle();
      reject(new HandoverUnreadable(reason));
    };
    if (stdin.readableEnded || stdin.destroyed) return ended();
    stdin.on('end', ended).on('close', ended).on('error', broken).on('data', take);
  });
}
