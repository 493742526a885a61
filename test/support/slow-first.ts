import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Files that take long; what begins last would keep all others waiting at the end. Longest first. */
const SLOW = [
  'own-feature',
  'container-chaos',
  'shell',
  'chaos-',
  'container-',
  'serve-',
  'mcp-',
  'planning',
  'scheduling',
  'package',
  'examples',
  'cli',
  'pruned-',
  'gates',
].map((name) => `/test/e2e/${name}`);

const rank = ({ moduleId }: TestSpecification): number => {
  const at = SLOW.findIndex((part) => moduleId.includes(part));
  return at === -1 ? SLOW.length : at;
};

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of the sequencer, not of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
