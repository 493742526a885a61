import v8 from 'node:v8';
import vm from 'node:vm';
import { EXPLAINED, OF_GLOBALS, OF_PROCESS } from './open-names.ts';
import { noInput, output } from './output.ts';
import { closed } from './refusal.ts';

/** Leaves of `process` what does no harm. Throws when something else is left. */
export function closeProcess(env: Readonly<Record<string, string>>, main: string): void {
  const own = process as unknown as Record<string, unknown>;
  for (const key of Object.getOwnPropertyNames(process)) {
    if (OF_PROCESS.has(key)) continue;
    if (typeof own[key] === 'function') replace(own, key, shut(`process.${key}`));
    else delete own[key];
  }
  // oxlint-disable-next-line node/no-process-env -- it becomes that of the program
  const variables = process.env;
  for (const name of Object.keys(variables)) delete variables[name];
  Object.assign(variables, env);
  replace(own, 'stdin', noInput());
  replace(own, 'stdout', output(1));
  replace(own, 'stderr', output(2));
  replace(own, 'argv', ['node', main]);
  replace(own, 'execArgv', []);
  replace(own, 'execPath', 'node');
  replace(own, 'memoryUsage', memoryUsage);
}

/** Leaves of the globals the language's own, and what only computes. Throws when something else is left. */
export function closeGlobals(require: (name: string) => unknown): void {
  const ofLanguage = new Set(vm.runInNewContext('Object.getOwnPropertyNames(globalThis)') as string[]);
  const own = globalThis as unknown as Record<string, unknown>;
  for (const key of Object.getOwnPropertyNames(globalThis)) {
    if (!ofLanguage.has(key) && !OF_GLOBALS.has(key)) delete own[key];
  }
  for (const key of Object.getOwnPropertySymbols(globalThis)) {
    if (key !== Symbol.toStringTag) delete (globalThis as unknown as Record<symbol, unknown>)[key];
  }
  // They load the code of `fetch`, and with it sockets.
  for (const key of ['compileStreaming', 'instantiateStreaming'])
    Reflect.deleteProperty(own['WebAssembly'] as object, key);
  for (const key of EXPLAINED) replace(own, key, shut(key));
  replace(own, 'require', require);
}

function replace(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

/** A function that refuses, called or constructed. */
function shut(what: string): () => never {
  return function refuse() {
    const error = new Error(closed(what));
    Error.captureStackTrace(error, refuse);
    throw error;
  };
}

/** Without the file that Node reads it from, since there are no descriptors. */
function memoryUsage(): NodeJS.MemoryUsage {
  const { total_heap_size: heapTotal, used_heap_size: heapUsed, external_memory: external } = v8.getHeapStatistics();
  const rss = process.resourceUsage().maxRSS * 1024;
  return { rss, heapTotal, heapUsed, external, arrayBuffers: 0 };
}
