import { sleep } from '../lib/index.ts';

/** A running git needs only moments: what is wrong for longer stays wrong. */
const LOOK_AGAIN_MS = 250;
const LOOKS = 4;

/** Names of what is wrong, each with an identity that differs for a later one of the same name. */
export type Found = ReadonlyMap<string, string>;

/** What several looks in a row find, with the same identity; one look is enough when it finds nothing. */
export async function persistent(look: () => Promise<Found>): Promise<string[]> {
  let found = [...(await look())];
  for (let again = 1; again < LOOKS && found.length > 0; again += 1) {
    await sleep(LOOK_AGAIN_MS);
    const now = await look();
    found = found.filter(([name, identity]) => now.get(name) === identity);
  }
  return found.map(([name]) => name);
}
