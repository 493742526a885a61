import { isBuiltin } from 'node:module';

const WAY_OUT = 'set EXECUTION_MODE=container';
const NO_PACKAGE = /^([./#]|[\w+.-]+:)/;

/** Why a program gets no such module. */
export function refusedModule(specifier: string): Error {
  const error = new Error(reasonFor(specifier));
  // Without the places in this program that it comes from.
  error.stack = `Error: ${error.message}\n    at file:///code`;
  return error;
}

function reasonFor(specifier: string): string {
  if (isBuiltin(specifier) || /^(node|bun)(:|$)/.test(specifier)) return closed(`"${specifier}"`);
  if (NO_PACKAGE.test(specifier)) return `Preload mode imports no files and no URLs: "${specifier}".`;
  const [name = ''] = /^(@[^/]+\/)?[^/]+/.exec(specifier) ?? [];
  return `Preload mode has no packages of npm: "${name}". To use it, ${WAY_OUT}.`;
}

export function closed(what: string): string {
  return `${what} is closed in preload mode; ${WAY_OUT}.`;
}
