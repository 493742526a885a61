import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { TestProject } from './project.ts';

const PROGRAM = fileURLToPath(new URL('../../scripts/check-run.js', import.meta.url));

/** What a run has left is sound: looked at by a program that shares no code with ours. */
export function expectSound({ folder, env }: TestProject, when: string, feature = 'login'): void {
  const { stdout, stderr } = spawnSync(process.execPath, [PROGRAM, folder, feature], { env, encoding: 'utf8' });
  expect(stdout + stderr, when).toBe('');
}
