import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** The values of a stream that holds one JSON text per line, as they come. */
export async function* jsonLines<Value>(source: Readable): AsyncGenerator<Value, void, undefined> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of source) {
    const lines = (rest + decoder.write(chunk as Buffer)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as Value;
  }
  if (rest.trim() !== '') yield JSON.parse(rest) as Value;
}

export async function readText(source: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of source) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
