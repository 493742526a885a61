import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Real processes and real git: generous limits, few at a time, so that a loaded machine changes nothing.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
    restoreMocks: true,
  },
});
