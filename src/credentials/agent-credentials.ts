import { homedir } from 'node:os';
import path from 'node:path';
import {
  digestOf,
  firstLine,
  hasCode,
  inSeconds,
  libErrors,
  readIfThere,
  reasonOf,
  systemClock,
} from '../lib/index.ts';
import type { Clock, Environment, run } from '../lib/index.ts';
import { credentialErrors } from './errors.ts';
import { CREDENTIALS_FILE, readLogin } from './login.ts';
import type { AgentCredentials } from './login.ts';

export interface Surroundings {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  /** Runs programs. */
  readonly run: typeof run;
  readonly clock?: Pick<Clock, 'now'>;
}

/**
 * A token for a gateway (ANTHROPIC_BASE_URL) comes first: else a subscription's token or a key, which are not meant for
 * the gateway, would be sent to it. The CLI has the same order.
 */
export const VARIABLES = ['ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_API_KEY'] as const;

/** The exit status of the macOS program `security` when there is no such item. */
const NO_SUCH_ITEM = 44;
/** The program may ask the user for permission. */
const KEYCHAIN_MS = 60_000;

/**
 * The first credentials that are there, and no others: of two the CLI would choose by its own rules, or send both. A login
 * in the keychain counts before one in a file that has expired.
 */
export async function findAgentCredentials(where: Surroundings): Promise<AgentCredentials | undefined> {
  for (const name of VARIABLES) {
    const value = where.env[name]?.trim() ?? '';
    if (value !== '') {
      return { source: name, env: { [name]: value }, files: [], secrets: [value], expiresAt: null, expired: false };
    }
  }
  const fromFile = await loginOfFile(where);
  if (fromFile !== undefined && !fromFile.expired) return fromFile;
  const fromKeychain = await loginOfKeychain(where);
  return fromKeychain?.expired === false ? fromKeychain : (fromFile ?? fromKeychain);
}

async function loginOfFile(where: Surroundings): Promise<AgentCredentials | undefined> {
  const folder = where.env['CLAUDE_CONFIG_DIR'] || path.join(where.env['HOME'] || homedir(), '.claude');
  const file = path.join(folder, CREDENTIALS_FILE);
  const text = await readIfThere(file).catch((error: unknown) => {
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  });
  return text === undefined ? undefined : readLogin(file, text.toString(), (where.clock ?? systemClock).now());
}

async function loginOfKeychain(where: Surroundings): Promise<AgentCredentials | undefined> {
  if (where.platform !== 'darwin') return undefined;
  const source = 'the macOS keychain';
  const args = ['find-generic-password', '-s', keychainItem(where.env), '-w'];
  const { PATH, HOME, USER } = where.env;
  const options = { cwd: '/', env: { PATH, HOME, USER }, timeoutMs: KEYCHAIN_MS };
  const end = await where.run('security', args, options).catch((error: unknown) => {
    if (hasCode(error, libErrors.PROCESS_NOT_STARTED)) return undefined;
    throw error;
  });
  if (end === undefined || end.code === NO_SUCH_ITEM) return undefined;
  if (end.code === 0) return readLogin(source, end.stdout, (where.clock ?? systemClock).now());
  const complaint = firstLine(end.stderr.trim());
  const how = end.timedOut ? `no answer within ${inSeconds(KEYCHAIN_MS)}` : `exit status ${end.code ?? end.signal}`;
  throw credentialErrors.CREDENTIALS_INVALID({ source, reason: `security: ${how}${complaint && `, ${complaint}`}` });
}

/** The CLI has a login for each configuration folder; that of another folder may be another account. */
function keychainItem(env: Environment): string {
  const folder = env['CLAUDE_CONFIG_DIR'] || '';
  const hash = digestOf(folder.normalize('NFC'));
  return `Claude Code-credentials${folder === '' ? '' : `-${hash.slice(0, 8)}`}`;
}
