import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { COMMANDS } from '../program.ts';
import { candidates } from './candidates.ts';
import { SCRIPTS } from './scripts.ts';

const names = {
  features: async () => ['login', 'logout', 'search'],
  tasks: async (feature: string | undefined) => [`${feature ?? 'only'}-1`, `${feature ?? 'only'}-2`],
  workers: async () => ['0', '1'],
};
const after = (...words: string[]): Promise<string[]> =>
  candidates(
    words,
    COMMANDS.map(({ definition }) => definition),
    names,
  );

describe('what may follow on a command line', () => {
  it.each<[string[], string[]]>([
    [['ku'], ['kurukshetra']],
    [['pl'], ['plan']],
    [
      ['plan', 'log'],
      ['login', 'logout'],
    ],
    [
      ['kurukshetra', '--feature', ''],
      ['login', 'logout', 'search'],
    ],
    [['run', '-f', 's'], ['search']],
    [['kurukshetra', '--mode', 'c'], ['container']],
    [['kurukshetra', '--dry'], ['--dry-run']],
    [
      ['retry', ''],
      ['only-1', 'only-2'],
    ],
    [
      ['retry', '--feature', 'login', ''],
      ['login-1', 'login-2'],
    ],
    [
      ['logs', ''],
      ['0', '1'],
    ],
    [
      ['shell', ''],
      ['0', '1', 'only-1', 'only-2'],
    ],
    [
      ['mcp', '--print-config', 'c'],
      ['claude', 'codex', 'cursor'],
    ],
    [
      ['completion', ''],
      ['bash', 'fish', 'zsh'],
    ],
    [['plan', 'login', ''], []],
    [['plan', 'login', '--from', ''], []],
    [['shell', '0', '--', ''], []],
    [['nothing', ''], []],
  ])('%j', async (words, found) => {
    expect(await after(...words)).toEqual(found);
  });

  it('are all commands on an empty line', async () => {
    expect(await after('')).toEqual(expect.arrayContaining(['init', 'kurukshetra', 'plan', 'run', 'serve']));
  });
});

/** A program of that name that says what it was asked. */
function onPath(): string {
  const folder = tempFolder();
  const file = path.join(folder, 'mahabharatha');
  writeFileSync(file, '#!/bin/sh\nshift 3\nfor word in "$@"; do printf "asked-%s\\n" "$word"; done\n');
  chmodSync(file, 0o755);
  return `${folder}:/usr/bin:/bin`;
}

describe('the script of bash', () => {
  it('asks the program with the words up to the cursor', () => {
    const test = `${SCRIPTS['bash']}\nCOMP_WORDS=(mahabharatha plan "lo g" later); COMP_CWORD=2; _mahabharatha; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const out = execFileSync('bash', ['-c', test], { encoding: 'utf8', env: { PATH: onPath() } });
    expect(out).toBe('asked-plan\nasked-lo g\n');
  });
});

const ZSH = `compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { print files; }
${SCRIPTS['zsh']}
words=(mahabharatha plan 'lo g' later); CURRENT=3; _mahabharatha`;
const FISH = `${SCRIPTS['fish']}\ncomplete -C 'mahabharatha plan asked-p'`;

describe.each([
  ['zsh', ['-fc', ZSH], 'asked-plan\nasked-lo g\n'],
  ['fish', ['-c', FISH], 'asked-plan\n'],
] as const)('the script of %s', (shell, args, found) => {
  const isThere = spawnSync(shell, ['-c', 'true']).status === 0;
  it.skipIf(!isThere)('asks the program as well', () => {
    const env = { PATH: onPath(), HOME: tempFolder() };
    expect(execFileSync(shell, args, { encoding: 'utf8', env })).toBe(found);
  });
});
