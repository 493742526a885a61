import { defineConfig } from 'tsdown';

/**
 * The programs as few large files: start-up is mostly the reading of many small ones, and a run starts several workers
 * at once. The worker and the egress proxy are one file each, because they also go into images.
 */
const program = (name: string, entry: string): ReturnType<typeof defineConfig> =>
  defineConfig({
    entry: { [name]: entry },
    outDir: `dist/bundle/${name}`,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    outExtensions: () => ({ js: '.js' }),
    deps: { alwaysBundle: ['commander', 'listr2', 'yaml', 'zod'] },
    dts: false,
    logLevel: 'error',
  });

// oxlint-disable-next-line import/no-default-export -- the tool wants it so
export default [
  program('cli', 'src/cli/main.ts'),
  program('worker', 'src/worker/main.ts'),
  program('sweeper', 'src/containers/sweeper/main.ts'),
  program('sandbox-agent', 'src/sandbox-agent/main.ts'),
  program('egress', 'src/egress/proxy/main.ts'),
];
