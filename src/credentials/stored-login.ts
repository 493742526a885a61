import { homedir } from 'node:os';
import path from 'node:path';
import { isThere } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import type { KnownAgent } from '../protocol/index.ts';

/**
 * The file in which an agent keeps a login of the user that no container gets; undefined when there is none, and for Claude
 * Code, whose login containers get. These logins are renewed with a token that works once: a worker that used it would log out
 * the user and all other workers.
 */
export async function storedLogin(kind: KnownAgent, env: Environment): Promise<string | undefined> {
  for (const file of filesOf(kind, env)) if (await isThere(file)) return file;
  return undefined;
}

/** Pure. */
function filesOf(kind: KnownAgent, env: Environment): readonly string[] {
  const home = env['HOME'] || homedir();
  switch (kind) {
    case 'claude':
      return [];
    case 'codex':
      return [path.join(env['CODEX_HOME'] || path.join(home, '.codex'), 'auth.json')];
    case 'gemini': {
      const folder = path.join(env['GEMINI_CLI_HOME'] || home, '.gemini');
      return ['oauth_creds.json', 'gemini-credentials.json'].map((name) => path.join(folder, name));
    }
    case 'opencode':
      return [path.join(env['XDG_DATA_HOME'] || path.join(home, '.local', 'share'), 'opencode', 'auth.json')];
  }
}
