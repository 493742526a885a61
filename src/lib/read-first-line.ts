import type { Readable } from 'node:stream';
import { startTimer } from './clock.ts';
import { inSeconds } from './text/amounts.ts';

interface Limits {
  readonly limitBytes: number;
  readonly timeoutMs: number;
}

/**
 * Reads only the first line of a stream. Its line end, what follows it and the end of the stream are left for the next
 * reader, which resumes the stream. Rejects with the reason alone: the line may be secret.
 */
export function readFirstLine(stream: Readable, { limitBytes, timeoutMs }: Limits): Promise<string> {
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
      stream.unshift(chunk.subarray(cut));
      resolve(Buffer.concat([...chunks, chunk.subarray(0, cut)]).toString('utf8'));
    };
    const ended = (): void => fail('stdin ended before it was whole');
    const broken = (): void => fail('stdin could not be read');
    const timer = startTimer(timeoutMs, () => fail(`it has not come within ${inSeconds(timeoutMs)}`));
    const settle = (): void => {
      timer.cancel();
      stream.pause();
      stream.off('data', take).off('end', ended).off('close', ended).off('error', broken);
    };
    const fail = (reason: string): void => {
      settle();
      reject(new Error(reason));
    };
    if (stream.readableEnded || stream.destroyed) return ended();
    stream.on('end', ended).on('close', ended).on('error', broken).on('data', take);
  });
}
