import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../bin/mahabharatha.js', import.meta.url));

const STDERR_KEPT = 2000;

const live = new Set();
let interrupted;

/** A signal ends the programs first; their failure then unwinds the measurement, which removes its folders. */
export function endProgramsOnSignal() {
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.on(name, () => {
      interrupted = name;
      for (const child of live) child.kill('SIGTERM');
    });
  }
}

/** Runs a program to its end; anything but exit status 0 throws. stdout is not read. */
export async function runProgram(file, args, { cwd, env = process.env, input } = {}) {
  if (interrupted !== undefined) throw new Error(`interrupted by ${interrupted}`);
  const child = spawn(file, args, { cwd, env, stdio: [input === undefined ? 'ignore' : 'pipe', 'ignore', 'pipe'] });
  live.add(child);
  child.stdin?.end(input);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr = `${stderr}${chunk}`.slice(-STDERR_KEPT);
  });
  try {
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code !== 0) throw new Error(`${file} ${args.join(' ')}: ended with ${code}\n${stderr}`);
  } finally {
    live.delete(child);
  }
}
