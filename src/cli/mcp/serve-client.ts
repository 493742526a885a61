import path from 'node:path';
import { libErrors, line, printableBlock, printableJson } from '../../lib/index.ts';
import { serveOnStdio, serveOverHttp } from '../../mcp/index.ts';
import { launchFile } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { mcp } from '../commands/mcp.ts';
import { interrupted, portIn, tokensFor } from '../serve/listening.ts';
import { CLIENTS, clientConfig } from './client-config.ts';
import { mcpSettings } from './mcp-settings.ts';
import { ownCommand } from './own-command.ts';
import { placeFor } from './place-for.ts';

type Input = InputOf<typeof mcp>;
type Served = Parameters<typeof serveOnStdio>[0];

/** Another one than that of `serve`. */
const PORT = '8001';

/** For people who wonder why nothing happens. */
const WAITS = line`Waiting for an AI client on stdin. --print-config prints how one is told to start this program.\n`;

/** `mcp`: on stdin and stdout, stdout belongs to the protocol alone. */
export async function serveClient(input: Input, context: CliContext): Promise<number> {
  checkWords(input);
  if (input.printConfig !== undefined) return printConfig(input.printConfig, input, context);
  const settings = await mcpSettings(input.config, context);
  const onNote = (note: string): void => context.err(line`${note}\n`);
  const served = { version: context.version, settings, place: placeFor(input, settings, context), onNote };
  if (input.http) return serveClients(served, input, context);
  if (context.terminal) context.err(WAITS);
  await serveOnStdio(served, context.interrupted);
  return 0;
}

async function serveClients(served: Served, input: Input, context: CliContext): Promise<number> {
  const { host = '127.0.0.1', port = PORT } = input;
  const tokens = await tokensFor(input, host, context.cwd);
  const { address, close } = await serveOverHttp({ ...served, host, port: portIn(port), tokens });
  context.onForce(close);
  context.out(
    input.json
      ? line`${printableJson({ type: 'serving', address })}\n`
      : line`Serving at ${address}; Ctrl-C ends it with all its containers.\n`,
  );
  await interrupted(context.interrupted);
  await close();
  return 0;
}

const wrong = (problem: string): Error => libErrors.USAGE({ problem, hint: 'See: mahabharatha mcp --help' });

function checkWords({ http, printConfig: client, ...more }: Input): void {
  if (http && client !== undefined)
    throw wrong('--print-config prints what starts a server on stdin and stdout, not with --http.');
  const { host, port, tokenFile, noToken, json } = more;
  const given = {
    '--host': host,
    '--port': port,
    '--token-file': tokenFile,
    '--insecure-no-token': noToken,
    '--json': json,
  };
  const [lonely] = Object.entries(given).filter(([, value]) => value !== undefined && value !== false);
  if (!http && lonely !== undefined) throw wrong(`${lonely[0]} is for --http.`);
}

async function printConfig(client: string, { config }: Input, { cwd, env, version, out }: CliContext): Promise<number> {
  const [command, ...args] = await ownCommand({ file: launchFile(), version, env });
  const named = config === undefined ? [] : ['--config', path.resolve(cwd, config)];
  const text = clientConfig(client, {
    command,
    args: [...args, 'mcp', ...named],
    env: { EXECUTION_MODE: 'container' },
  });
  if (text === undefined) throw wrong(`There is no client "${client}": there are ${CLIENTS.join(', ')}.`);
  out(printableBlock(text, ''));
  return 0;
}
