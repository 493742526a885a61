import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import type { TalkingProcess } from '../../lib/index.ts';
import type { Attachment } from '../engine.ts';

/** Streams that are there before the process that they will belong to. */
export interface Streams {
  readonly attachment: Attachment;
  join(child: TalkingProcess): void;
}

/**
 * The program attaches to a container by starting it, so that the caller has the streams first. A closed attachment ends
 * stdin; the output is read on, because a program that cannot print does not end.
 */
export function createStreams(): Streams {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const close = (): void => {
    stdin.end();
    for (const stream of [stdout, stderr]) stream.destroy();
  };
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
  return {
    attachment: { stdin, stdout, stderr, close },
    join: (child) => {
      stdin.pipe(child.stdin);
      // A caller that destroys its end of stdin means that it ends.
      stdin.once('close', () => child.stdin.end());
      lead(child.stdout, stdout);
      lead(child.stderr, stderr);
    },
  };
}

function lead(from: Readable, to: PassThrough): void {
  from.on('error', () => to.end());
  const drop = (): void => void from.resume();
  if (to.destroyed) return drop();
  from.pipe(to);
  to.once('close', drop);
}
