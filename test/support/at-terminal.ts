import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestProject } from './project.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mahabharatha.js', import.meta.url));

/** `script` of util-linux gives a program a terminal of its own. */
function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8', stdio: 'pipe' }).includes('util-linux');
  } catch {
    return false;
  }
}

/** Why there is no terminal for tests; empty when there is one. */
export const whyNoTerminal = hasScript() ? '' : ' (no `script` of util-linux here to make a terminal with)';

export interface AtTerminal {
  output(): string;
  type(text: string): void;
  /** As when its window is made larger or smaller. */
  resize(columns: number, rows: number): void;
  /** As when its window is closed. */
  hangUp(): void;
  readonly end: Promise<number | null>;
}

/** Runs the built program as a person does, in a terminal of so many columns. */
export function atTerminal(
  project: TestProject,
  args: readonly string[],
  { env, columns = 120, rows = 40 }: { env?: NodeJS.ProcessEnv; columns?: number; rows?: number } = {},
): AtTerminal {
  const command = [process.execPath, PROGRAM, ...args].map((word) => `'${word}'`).join(' ');
  const sized = `stty cols ${columns} rows ${rows}; exec ${command}`;
  const child = spawn('script', ['--quiet', '--return', '--command', sized, '/dev/null'], {
    cwd: project.folder,
    env: { ...project.env, ...env },
    stdio: 'pipe',
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    output: () => output,
    type: (text) => child.stdin.write(text),
    resize: (wide, high) => {
      const [program = ''] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
      const device = readlinkSync(`/proc/${program}/fd/0`);
      execFileSync('stty', ['-F', device, 'cols', String(wide), 'rows', String(high)]);
    },
    hangUp: () => void child.kill('SIGKILL'),
    end: new Promise((resolve) => {
      child.once('close', resolve);
    }),
  };
}
