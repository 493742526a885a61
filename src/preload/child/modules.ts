import { createRequire } from 'node:module';
import vm from 'node:vm';
import { refusedModule } from './refusal.ts';

/** Modules of Node that only compute. */
const NAMES = [
  'assert',
  'assert/strict',
  'buffer',
  'crypto',
  'events',
  'path',
  'path/posix',
  'path/win32',
  'perf_hooks',
  'process',
  'querystring',
  'stream',
  'stream/consumers',
  'stream/promises',
  'stream/web',
  'string_decoder',
  'timers',
  'timers/promises',
  'url',
  'util',
  'util/types',
  'zlib',
];
/** They load native code, or change how the whole process works. */
const WITHOUT: Readonly<Record<string, readonly string[]>> = { crypto: ['setEngine', 'setFips'] };

interface OpenModule {
  readonly exports: unknown;
  readonly module: vm.Module;
}

/** Without a prototype: what a program does to those of all objects changes nothing here. */
export type OpenModules = Readonly<Record<string, OpenModule>>;

/**
 * The modules that a program may have, all made before it begins. Those of `process` come after its doors are closed,
 * because a module keeps the functions that it has found.
 */
export async function openModules(): Promise<OpenModules> {
  const require = createRequire(import.meta.url);
  const modules = Object.create(null) as Record<string, OpenModule>;
  for (const name of NAMES) {
    const exports = require(`node:${name}`) as Record<string, unknown>;
    for (const key of WITHOUT[name] ?? []) delete exports[key];
    const open = { exports, module: await asModule(name, exports) };
    modules[name] = open;
    modules[`node:${name}`] = open;
  }
  return modules;
}

/** As `require` gives it. */
export function exportsOf(modules: OpenModules, specifier: unknown): unknown {
  const open = typeof specifier === 'string' ? modules[specifier] : undefined;
  if (open === undefined) throw refusedModule(String(specifier));
  return open.exports;
}

export function moduleOf(modules: OpenModules, specifier: string): vm.Module {
  const open = modules[specifier];
  if (open === undefined) throw refusedModule(specifier);
  return open.module;
}

async function asModule(name: string, exports: Record<string, unknown>): Promise<vm.Module> {
  const named = Object.keys(exports).filter((key) => key !== 'default');
  const module = new vm.SyntheticModule(
    ['default', ...named],
    () => {
      module.setExport('default', exports);
      for (const key of named) module.setExport(key, exports[key]);
    },
    { identifier: `node:${name}` },
  );
  await module.link(refusedModule as never);
  await module.evaluate();
  return module;
}
