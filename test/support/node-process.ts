import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, onTestFinished } from 'vitest';
import { waitUntil } from './wait-until.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let compiled: string | undefined;
const rooms = new Set<string>();

afterAll(() => {
  if (compiled !== undefined) rmSync(compiled, { recursive: true, force: true });
});

export interface NodeProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** What it has printed so far. */
  output(): string;
  /** Resolves when it has printed the text. */
  printed(text: string): Promise<void>;
  readonly end: Promise<{ code: number | null; signal: NodeJS.Signals | null; output: string }>;
}

/**
 * Runs code in a Node process of its own, for what only several processes show. The code is an ES module beside the
 * folders of `src/`, as they are now: `import { run } from './lib/index.js'`. The words of `under` go before the command: `strace …`.
 */
export function startNode(
  code: string,
  env: Readonly<Record<string, string>> = {},
  under: readonly string[] = [],
): NodeProcess {
  const [program, ...args] = [...under, process.execPath, '--input-type=module', '-e', code];
  const child = spawn(program, args, {
    cwd: compiledFor(code),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  let hasEnded = false;
  const end: NodeProcess['end'] = new Promise((resolve) => {
    child.once('close', (code, signal) => {
      hasEnded = true;
      resolve({ code, signal, output });
    });
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    pid: child.pid ?? 0,
    child,
    output: () => output,
    printed: (text) =>
      waitUntil(`process ${child.pid} prints "${text}"`, () => {
        if (output.includes(text)) return true;
        if (hasEnded) throw new Error(`the process has ended without printing "${text}":\n${output}`);
        return false;
      }),
    end,
  };
}

/** The folder with all that the code imports, and what that imports. */
function compiledFor(code: string): string {
  compiled ??= newFolder();
  for (const [, room = ''] of code.matchAll(/from '\.\/([a-z-]+)\//g)) compileRoom(room, compiled);
  return compiled;
}

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mahabharatha-compiled-'));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }\n');
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  return folder;
}

function compileRoom(name: string, folder: string): void {
  if (rooms.has(name)) return;
  rooms.add(name);
  const [from, to] = [path.join(ROOT, 'src', name), path.join(folder, name)];
  for (const file of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
    const code = toJavaScript(path.join(from, file));
    const target = path.join(to, file.replace(/ts$/, 'js'));
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, code);
    for (const [, imported = ''] of code.matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g))
      compileRoom(path.join(name, path.dirname(file), imported).split(path.sep)[0] ?? '', folder);
  }
}

function toJavaScript(file: string): string {
  return ts.transpileModule(readFileSync(file, 'utf8'), {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  }).outputText;
}
