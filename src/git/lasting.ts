import { sleep } from '../lib/index.ts';

/** A git that is at work is through with it within moments: what is there for so long stays. */
const LOOK_AGAIN_MS = 250;
const LOOKS = 4;

/** Names of what is wrong, each with what tells it from a later one of that name. */
export type Found = ReadonlyMap<string, string>;

/** What is wrong at every look, and the same each time; one look is enough when nothing is. */
export async function lasting(look: () => Promise<Found>): Promise<string[]> {
  let found = [...(await look())];
  for (let again = 1; again < LOOKS && found.length > 0; again += 1) {
    await sleep(LOOK_AGAIN_MS);
    const now = await look();
    found = found.filter(([name, identity]) => now.get(name) === identity);
  }
  return found.map(([name]) => name);
}
