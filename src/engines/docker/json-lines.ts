import type { Readable } from 'node:stream';
import { createWholeLines } from '../../lib/index.ts';

/** The values of a stream with one JSON text per line. */
export async function* jsonLines<Value>(source: Readable): AsyncGenerator<Value, void, undefined> {
  const lines = createWholeLines();
  for await (const chunk of source) yield* valuesIn<Value>(lines.push(chunk as Buffer));
  yield* valuesIn<Value>(lines.end());
}

function* valuesIn<Value>(lines: Buffer): Generator<Value, void, undefined> {
  for (const line of lines.toString('utf8').split('\n')) if (line.trim() !== '') yield JSON.parse(line) as Value;
}
