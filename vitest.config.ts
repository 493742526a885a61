import { defineConfig } from 'vitest/config';
import type { TestProjectConfiguration } from 'vitest/config';
import { SlowFirst } from './test/support/slow-first.ts';

/** The tests in a folder, and the most minutes that one of them may take. */
const limited = (name: string, folder: string, minutes: number): TestProjectConfiguration => {
  const [testTimeout, hookTimeout] = [minutes * 60_000, minutes * 60_000];
  return { extends: true, test: { name, include: [`${folder}/**/*.test.ts`], testTimeout, hookTimeout } };
};

export default defineConfig({
  test: {
    maxWorkers: 3,
    sequence: { sequencer: SlowFirst },
    restoreMocks: true,
    // The limits are for what hangs: no test depends on the machine's speed.
    projects: [
      limited('unit', 'src', 3),
      // Real processes and real git.
      limited('whole', 'test', 30),
    ],
  },
});
