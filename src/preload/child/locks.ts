import { EventEmitter } from 'node:events';
import { exportsOf } from './modules.ts';
import type { OpenModules } from './modules.ts';

/**
 * Locks what Node's own code asks of prototypes while it handles objects of its own: a program that has put others in
 * their place would be handed those objects, such as the module that imports, or a socket.
 */
export function lockPrototypes(modules: OpenModules): void {
  lock(Object.getPrototypeOf([][Symbol.iterator]()) as object, 'next');
  lock(Array.prototype, Symbol.iterator);
  for (const key of ['then', 'constructor']) lock(Promise.prototype, key);
  for (const key of ['apply', 'bind', 'call']) lock(Function.prototype, key);
  lock(EventEmitter, 'init');
  const found = Object.keys(modules).flatMap((name) => Object.values(exportsOf(modules, name) as object) as unknown[]);
  const all = Object.getOwnPropertyNames(globalThis).map((name) => (globalThis as Record<string, unknown>)[name]);
  for (const each of [...found, ...all]) if (typeof each === 'function') lockCloning(each.prototype as unknown);
}

function lock(target: object, key: string | symbol): void {
  Object.defineProperty(target, key, { writable: false, configurable: false });
}

/** A clone of an object that says so is made by any class of Node that has this method, also an inner one. */
const CLONED = Object.getOwnPropertySymbols(Blob.prototype).find(
  ({ description }) => description === 'messaging_deserialize_symbol',
);

/** What has no such method gets none, while objects that inherit from it may. */
function lockCloning(prototype: unknown): void {
  if (CLONED === undefined) throw new Error('Node clones objects in another way.');
  const key = CLONED;
  if (typeof prototype !== 'object' || prototype === null || Object.hasOwn(prototype, key)) return;
  Object.defineProperty(prototype, key, {
    get: () => undefined,
    set(this: object, value: unknown) {
      Object.defineProperty(this, key, { value, writable: true, configurable: true });
    },
    configurable: false,
  });
}
