import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { storedLogin } from './stored-login.ts';

it.each([
  ['codex', 'HOME', '.codex/auth.json'],
  ['codex', 'CODEX_HOME', 'auth.json'],
  ['gemini', 'HOME', '.gemini/oauth_creds.json'],
  ['gemini', 'GEMINI_CLI_HOME', '.gemini/gemini-credentials.json'],
  ['opencode', 'HOME', '.local/share/opencode/auth.json'],
  ['opencode', 'XDG_DATA_HOME', 'opencode/auth.json'],
] as const)('the login of %s is found below %s, as %s', async (kind, variable, name) => {
  const folder = tempFolder();
  const env = { HOME: tempFolder(), [variable]: folder };
  expect(await storedLogin(kind, env)).toBeUndefined();
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, '{}');
  expect(await storedLogin(kind, env)).toBe(file);
  expect(await storedLogin('claude', env)).toBeUndefined();
});
