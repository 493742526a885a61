import { Transform } from 'node:stream';

/** A shorter value is no secret, and is part of too many words. */
const SHORTEST = 8;

/** Pure. The same bytes, with an asterisk for each byte of a secret. */
export function maskIn(text: Buffer, secrets: readonly Buffer[]): Buffer {
  const masked = secrets.some((secret) => text.includes(secret)) ? Buffer.from(text) : text;
  for (const secret of secrets) {
    for (let at = masked.indexOf(secret); at !== -1; at = masked.indexOf(secret, at + secret.length)) {
      masked.fill('*', at, at + secret.length);
    }
  }
  return masked;
}

/** Masks secrets in a stream, also one that comes in two parts. The length stays; nothing waits but the beginning of a secret. */
export function maskingStream(secrets: readonly Buffer[]): Transform {
  let held: Buffer = Buffer.alloc(0);
  return new Transform({
    transform: (part: Buffer, _, done) => {
      const text = maskIn(held.length === 0 ? part : Buffer.concat([held, part]), secrets);
      const end = text.length - begunAtEnd(text, secrets);
      held = text.subarray(end);
      done(null, text.subarray(0, end));
    },
    flush: (done) => done(null, held),
  });
}

/** How many bytes at the end may be the beginning of a secret. */
function begunAtEnd(text: Buffer, secrets: readonly Buffer[]): number {
  const longest = Math.max(0, ...secrets.map(({ length }) => length - 1));
  for (let count = Math.min(longest, text.length); count > 0; count--) {
    const end = text.subarray(text.length - count);
    if (secrets.some((secret) => secret.length > count && secret.subarray(0, count).equals(end))) return count;
  }
  return 0;
}

/** The values of headers that must not come back: whole, and without the word before a token. */
export function secretsOf(headers: Readonly<Record<string, string>>): readonly Buffer[] {
  const values = Object.values(headers).flatMap((value) => [value, value.split(' ').at(-1) ?? '']);
  const longestFirst = [...new Set(values)].toSorted((one, other) => other.length - one.length);
  return longestFirst.filter(({ length }) => length >= SHORTEST).map((value) => Buffer.from(value));
}
