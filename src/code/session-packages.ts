import { z } from 'zod';
import { createTail, readJson } from '../lib/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import type { ProgramAhead } from '../protocol/index.ts';
import { aheadOf } from '../sandbox/index.ts';
import type { Sandbox } from '../sandbox/index.ts';
import { codeErrors } from './errors.ts';
import { ANY, packagesOf } from './package-names.ts';
import type { Wanted } from './package-names.ts';
import type { PackageSet } from './package-store.ts';
import { PACKAGES, STORE, TOOLS, WAIT_FIRST } from './places.ts';

const MODULES = `${PACKAGES}/node_modules`;
const TIME_MS = 10_000;
const MOST_TEXT = 256 * 1024;
const LAST_WORDS = 500;
/** Code without any of these imports nothing; "\u" may hide one, and JSX imports its runtime. */
const MAY_IMPORT = /import|require|from|resolve|\\u|<\/|\/>/;

const specifiers = z.array(z.string()).max(1000);
const scanned = z.object({ imports: specifiers, own: specifiers, missing: specifiers });

/** What a session has of the store. */
export interface SessionPackages {
  /** Outlives the session's container. */
  wanted: Wanted;
  set: PackageSet | undefined;
  /** The container that has links to the set, and the set's key. */
  linked: string | undefined;
}

export const noPackages = (): SessionPackages => ({ wanted: new Map(), set: undefined, linked: undefined });

export const mayImport = (code: string): boolean => MAY_IMPORT.test(code);

/**
 * The packages of npm that the program needs, without those that the session has made itself; and those of them that are
 * not below its folder of packages. `ahead`: the program itself. Throws PACKAGE_NAME_INVALID and IMPORTS_FAILED.
 */
export async function importsOf(
  sandbox: Sandbox,
  file: string,
  ahead: ProgramAhead,
): Promise<{ readonly names: readonly string[]; readonly missing: readonly string[] }> {
  const scan = { ...toolOf(sandbox, ['bun', ...scanOf(file)]), ahead };
  const found = readJson(scanned, await outputOf(sandbox, scan));
  if (found === undefined) throw codeErrors.IMPORTS_FAILED({ reason: 'there are too many of them' });
  const own = new Set(found.own);
  return {
    names: packagesOf(found.imports.filter((specifier) => !own.has(specifier))),
    missing: packagesOf(found.missing),
  };
}

/** What looks for the imports of code that comes. */
export const scanAhead = (sandbox: Sandbox, file: string): ProgramAhead =>
  aheadOf(toolOf(sandbox, ['bun', ...scanOf(file)]), { argv: ['bun', ...WAIT_FIRST, ...scanOf(file)], env: {} });

const scanOf = (file: string): readonly string[] => [TOOLS.scanImports, file, MODULES];

/** Pure. What the session has, and what it needs now. */
export function withNames({ wanted }: SessionPackages, names: readonly string[]): Wanted {
  const added = names.filter((name) => !wanted.has(name)).map((name) => [name, ANY] as const);
  return added.length === 0 ? wanted : new Map([...wanted, ...added]);
}

/** Lets the session's code find them. Throws IMPORTS_FAILED. */
export async function link(sandbox: Sandbox, packages: SessionPackages, set: PackageSet): Promise<void> {
  const link = `${sandbox.containerId} ${set.key} ${[...packages.wanted.keys()].join(' ')}`;
  if (packages.linked === link) return;
  const from = `${STORE}/${set.key}/node_modules`;
  await outputOf(sandbox, toolOf(sandbox, ['bun', TOOLS.linkPackages, from, MODULES, ...packages.wanted.keys()]));
  packages.linked = link;
}

type Tool = Parameters<Sandbox['run']>[0];

/** As the user of the session's code: what these programs say is about this session alone. */
function toolOf(sandbox: Sandbox, argv: Tool['argv']): Tool {
  const env = { ...sandbox.env, HOME: '/nonexistent' };
  // Settings of Bun that code has left below the session's folders are not read.
  const at = { cwd: '/', home: SANDBOX.home, uid: sandbox.uid, isPrivate: false };
  return { argv, env, ...at, dataBytes: null, stdin: null, timeoutMs: TIME_MS, graceMs: 0, clears: [] };
}

async function outputOf(sandbox: Sandbox, tool: Tool): Promise<string> {
  let text = '';
  const words = createTail(LAST_WORDS);
  const { code, endedBy, problem } = await sandbox.run(tool, (stream, chunk) => {
    if (stream === 'stderr') words.push(chunk.toString('utf8'));
    else if (text.length < MOST_TEXT) text += chunk.toString('utf8');
  }).end;
  if (code === 0 && endedBy === 'itself') return text;
  const reason = problem ?? (endedBy === 'timeout' ? `it took longer than ${TIME_MS / 1000} s` : words.text().trim());
  throw codeErrors.IMPORTS_FAILED({ reason: reason || `it ended with ${code ?? 'a signal'}` });
}
