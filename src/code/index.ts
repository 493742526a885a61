export { openPackages } from './code-packages.ts';
export type { CallHooks, Package } from './code-packages.ts';
export { createCodeSessions } from './code-sessions.ts';
export type { CodeRan, CodeWish } from './code-sessions.ts';
export { wantedOf } from './package-names.ts';
