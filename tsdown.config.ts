import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'tsdown';
import type { Rolldown } from 'tsdown';

/** Writes the licences of the packages that a program has inside beside it: most ask for that. */
const licences: Rolldown.Plugin = {
  name: 'licences',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
    const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id) ?? []);
    const source = [...new Set(folders)].toSorted().map(licenceOf).join('\n');
    if (source !== '') this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source });
  },
};

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file));
  const texts = files.map((file) => readFileSync(path.join(folder, file), 'utf8'));
  return [`== ${name} ${version} (${license})\n`, ...texts].join('\n');
}

type Treeshake = Rolldown.InputOptions['treeshake'];

/**
 * The programs as few large files, with all packages that they use: start-up is mostly the reading of many small ones, and
 * a run starts several workers at once. The worker and the egress proxy are one file each, because they also go into images.
 */
const program = (name: string, entry: string, treeshake: Treeshake = true): ReturnType<typeof defineConfig> =>
  defineConfig({
    entry: { [name]: entry },
    treeshake,
    outDir: `dist/bundle/${name}`,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    outExtensions: () => ({ js: '.js' }),
    deps: { alwaysBundle: [/.*/] },
    plugins: [licences],
    dts: false,
    logLevel: 'error',
  });

/**
 * A program of one file, without the modules of which it uses nothing, say schemas that another program reads with: none of
 * ours is loaded for what it does by that. (The CLI would fall into more files by that.)
 */
const oneFile = (name: string, entry: string): ReturnType<typeof program> =>
  program(name, entry, { moduleSideEffects: [{ test: /^(?!.*\/node_modules\/).*\/src\//, sideEffects: false }] });

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
  plugins: [licences],
  dts: false,
  logLevel: 'error',
});

// oxlint-disable-next-line import/no-default-export -- the tool wants it so
export default [
  program('cli', 'src/cli/main.ts'),
  oneFile('worker', 'src/worker/main.ts'),
  oneFile('sweeper', 'src/containers/sweeper/main.ts'),
  oneFile('sandbox-agent', 'src/sandbox-agent/main.ts'),
  program('preload', 'src/preload/child/main.ts'),
  oneFile('egress', 'src/egress/proxy/main.ts'),
  page,
];
