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
    deps: { alwaysBundle: ['@swc/wasm-typescript', 'commander', 'listr2', 'yaml', 'zod'] },
    dts: false,
    logLevel: 'error',
  });

/** The page of the server: one script for browsers, with all that it needs, and the style of its terminal beside it. */
const page = defineConfig({
  entry: { page: 'src/page/main.ts' },
  copy: [{ from: 'node_modules/@xterm/xterm/css/xterm.css', to: 'dist/bundle/page' }],
  outDir: 'dist/bundle/page',
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  minify: true,
  outExtensions: () => ({ js: '.js' }),
  deps: { alwaysBundle: [/.*/] },
  dts: false,
  logLevel: 'error',
});

// oxlint-disable-next-line import/no-default-export -- the tool wants it so
export default [
  program('cli', 'src/cli/main.ts'),
  program('worker', 'src/worker/main.ts'),
  program('sweeper', 'src/containers/sweeper/main.ts'),
  program('sandbox-agent', 'src/sandbox-agent/main.ts'),
  program('preload', 'src/preload/child/main.ts'),
  program('egress', 'src/egress/proxy/main.ts'),
  page,
];
