import { closeSync, readFileSync } from 'node:fs';
import vm from 'node:vm';
import type { ChildRequest } from '../request.ts';
import { useUpDescriptors } from './descriptors.ts';
import { closeGlobals, closeProcess } from './doors.ts';
import { lockPrototypes } from './locks.ts';
import { exportsOf, moduleOf, openModules } from './modules.ts';

const { code, language, env, timeoutMs } = JSON.parse(readFileSync(0, 'utf8')) as ChildRequest;
closeSync(0);
endLater(timeoutMs + 1000);
// A tenth of the time of a call, and only of one in TypeScript.
const source = language === 'typescript' ? (await import('./strip-types.ts')).stripTypes(code) : code;

const main = language === 'typescript' ? '/code/main.ts' : '/code/main.js';
closeProcess(env, main);
const modules = await openModules();
closeGlobals((name) => exportsOf(modules, name));

const program = new vm.SourceTextModule(source, {
  identifier: `file://${main}`,
  initializeImportMeta: (meta) => {
    meta.url = `file://${main}`;
    meta.filename = main;
    meta.dirname = '/code';
  },
  importModuleDynamically: ((specifier: string) => moduleOf(modules, specifier).namespace) as never,
});
await program.link((specifier: string) => moduleOf(modules, specifier));
lockPrototypes(modules);
useUpDescriptors(process.cwd());
await program.evaluate();

/** Should the host be gone: no listener of the program is asked. */
function endLater(ms: number): void {
  const { reallyExit } = process as unknown as { readonly reallyExit: (code: number) => void };
  setTimeout(() => reallyExit.call(process, 124), ms).unref();
}
