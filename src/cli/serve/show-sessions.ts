import path from 'node:path';
import { readTokens } from '../../guard/index.ts';
import { findServers } from '../../http/index.ts';
import { joined, libErrors, line, printableJson } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { sessions } from '../commands/sessions.ts';
import { cliErrors } from '../errors.ts';
import { endSession, listSessions } from './ask-server.ts';
import type { OpenSession, Server } from './ask-server.ts';

type Input = InputOf<typeof sessions>;

const HEAD = ['session', 'project', 'runtime', 'state', 'last used', 'server'];

/** `sessions`: lists or ends what is open on servers that run. */
export async function showSessions(input: Input, context: CliContext): Promise<number> {
  checkWords(input);
  const servers = await serversFor(input, context);
  const open = (await Promise.all(servers.map(listSessions))).flat();
  if (input.argument === undefined) show(open, input.json, context);
  else await end(chosen(input, open), servers, { json: input.json, context });
  return 0;
}

const wrong = (problem: string): Error => libErrors.USAGE({ problem, hint: 'See: mahabharatha sessions --help' });

function checkWords({ argument, rest, all }: Input): void {
  if (argument !== undefined && argument !== 'end') throw wrong(`There is no "sessions ${argument}".`);
  if (argument === undefined && all) throw wrong('--all is for "sessions end".');
  if (argument === 'end' && all === rest.length > 0) throw wrong('Name the sessions to be ended, or say --all.');
}

/** Throws NO_SERVER. */
async function serversFor({ url, tokenFile }: Input, { cwd, env }: CliContext): Promise<readonly Server[]> {
  if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw libErrors.USAGE({
      problem: `"${url}" is no address of a server.`,
      hint: 'Name one such as http://localhost:8000.',
    });
  const [fromFile] = tokenFile === undefined ? [] : (await readTokens(path.resolve(cwd, tokenFile))).keys();
  const token = fromFile ?? env['MAHABHARATHA_TOKEN'];
  const urls = url === undefined ? await findServers(env) : [url];
  if (urls.length === 0) throw cliErrors.NO_SERVER({});
  return urls.map((each) => ({ url: reachable(each), token }));
}

/** "All addresses" is where a server listens, and not where it is asked. */
const reachable = (url: string): string => url.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]');

/** Throws SESSION_NOT_OPEN. */
function chosen({ rest, all }: Input, open: readonly OpenSession[]): readonly OpenSession[] {
  if (all) return open;
  const missing = rest.filter((id) => !open.some(({ session_id }) => session_id === id));
  if (missing.length > 0) throw cliErrors.SESSION_NOT_OPEN({ sessions: missing });
  return open.filter(({ session_id }) => rest.includes(session_id));
}

interface Telling {
  readonly json: boolean;
  readonly context: CliContext;
}

async function end(
  wanted: readonly OpenSession[],
  servers: readonly Server[],
  { json, context }: Telling,
): Promise<void> {
  const ended = wanted.map(async ({ server: url, session_id: id }) => {
    const server = servers.find((each) => each.url === url);
    if (server !== undefined) await endSession(server, id);
    if (!json) context.out(line`${id} has ended.\n`);
    return id;
  });
  const ids = await Promise.all(ended);
  if (json) context.out(line`${printableJson({ type: 'sessions-ended', ended: ids })}\n`);
  else if (ids.length === 0) context.out(line`No session is open.\n`);
}

function show(open: readonly OpenSession[], json: boolean, { out }: CliContext): void {
  if (json) return out(line`${printableJson({ type: 'sessions', sessions: open })}\n`);
  if (open.length === 0) return out(line`No session is open.\n`);
  const rows = open.map((each) => [
    each.session_id,
    each.project_id,
    each.runtime_type,
    each.busy ? 'busy' : 'idle',
    each.last_used_at,
    each.server,
  ]);
  const widths = HEAD.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const text = (row: readonly string[]): Printable =>
    line`${row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()}\n`;
  out(joined([HEAD, ...rows].map(text), ''));
}
