import type { Growth } from '../git/index.ts';
import type { CheckoutSize } from './decide-checkout.ts';
import type { RunContext } from './ports.ts';

/**
 * What the run has added to its base with a commit that adds `growth` to `base`. No worker could work with a checkout that
 * is larger than its disk. Workers that share our objects have no disk of their own: there the limit is for what is added.
 */
export async function checkoutSize(
  { ports: { repository, launcher }, options }: RunContext,
  runBase: string,
  base: string,
  growth: Growth,
): Promise<CheckoutSize> {
  const { between } = repository.checkoutGrowth;
  const before = await between(runBase, base);
  const whole = launcher.capabilities.sharesObjects ? 0 : (await between(null, runBase)).bytes;
  return { ...growth, bytes: before.bytes + growth.bytes, roomBytes: options.checkoutBytes - whole };
}
