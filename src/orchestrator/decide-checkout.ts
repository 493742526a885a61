import type { Growth } from '../git/index.ts';
import { inBytes } from '../lib/text/amounts.ts';

/** What a run has added to a checkout of its base, and what it may add. */
export interface CheckoutSize extends Growth {
  readonly roomBytes: number;
}

/** Why this may not be checked out, in words; undefined when it may. */
export function tooLarge({ bytes, roomBytes, heaviest }: CheckoutSize): string | undefined {
  if (bytes <= Math.max(0, roomBytes)) return undefined;
  const paths = heaviest.map(({ path, bytes: own }) => `${path} (${inBytes(own)})`).join(', ');
  return (
    `the run would add ${inBytes(bytes)} to a checkout, and ${inBytes(Math.max(0, roomBytes))} may be added ` +
    `(workers.container.disk); most of it: ${paths}`
  );
}
