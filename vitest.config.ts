import { defineConfig } from 'vitest/config';
import { SlowFirst } from './test/support/slow-first.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Real processes and real git, few at a time. The limits are for what hangs: no test depends on the machine's speed.
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
    maxWorkers: 3,
    sequence: { sequencer: SlowFirst },
    restoreMocks: true,
  },
});
