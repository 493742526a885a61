import path from 'node:path';
import { loadConfig } from '../../config/index.ts';
import type { Config } from '../../config/index.ts';
import { findEngine } from '../../engines/index.ts';
import { guardErrors } from '../../guard/errors.ts';
import { isOfThisMachine, readTokens } from '../../guard/index.ts';
import { openLog, openServer } from '../../http/index.ts';
import { asAppError, isThere, libErrors, line, printable, printableJson, printableOutput } from '../../lib/index.ts';
import { configOf, projectIfAny, readSettings } from '../../project/index.ts';
import { askTrust } from '../ask-trust.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { serve } from '../commands/serve.ts';
import { readyImage } from '../images/ready-image.ts';

type Input = InputOf<typeof serve>;

const LAST_PORT = 65_535;

/** `serve`: answers requests until it is interrupted. */
export async function serveRequests(input: Input, context: CliContext): Promise<number> {
  const settings = { ...(await settingsFor(input, context)), ...named(input, context) };
  const tokens = input.tokenFile === undefined ? null : await readTokens(path.resolve(context.cwd, input.tokenFile));
  if (tokens === null && !input.noToken && !isOfThisMachine(settings.host))
    throw guardErrors.TOKEN_NEEDED({ host: settings.host });
  const engine = await findEngine(context.env);
  const runtimeImage = await readyImage(engine, { use: 'sandbox', json: input.json }, context);
  const server = await openServer({
    engine,
    runtimeImage,
    settings,
    tokens,
    version: context.version,
    env: context.env,
    signal: context.interrupted,
    onNote: (note) => context.err(line`${note}\n`),
    ...starting(input.json, context),
    log: openLog(settings.log_level, logTarget(context)),
  });
  context.onForce(server.close);
  context.out(
    input.json
      ? line`${printableJson({ type: 'serving', address: server.address })}\n`
      : line`Serving at ${server.address} (${printable(server.address)}/openapi.json); Ctrl-C ends it with all its sessions.\n`,
  );
  await interrupted(context.interrupted);
  await server.close();
  return 0;
}

/** Lines for people at a terminal, and JSON for programs. */
function logTarget({ streams, err }: CliContext): Parameters<typeof openLog>[1] {
  if (!streams.stderr.isTTY) return streams.stderr;
  return {
    write: (text) => {
      const { time, level, event, ...facts } = JSON.parse(text) as Record<string, unknown>;
      const told = Object.entries(facts).map(([name, value]) => `${name}=${String(value)}`);
      err(line`${String(time).slice(11, 19)} ${String(level)} ${[event, ...told].join(' ')}\n`);
    },
  };
}

/** What is said while the server starts. */
function starting(
  json: boolean,
  { out, err }: CliContext,
): Pick<Parameters<typeof openServer>[0], 'onPull' | 'onProblem'> {
  return {
    onPull: (image, text) =>
      json
        ? out(line`${printableJson({ type: 'pull', image, text })}\n`)
        : err(line`${printable(image)}: ${printableOutput(text)}\n`),
    onProblem: (problem) => {
      const { code, message, hint } = asAppError(problem);
      if (json) out(line`${printableJson({ type: 'problem', code, message, hint })}\n`);
      else err(line`${message}\n  ${hint}\n`);
    },
  };
}

/** A file that is named is approved by that; the settings of a repository need an approval. */
async function settingsFor({ config, trustConfig }: Input, context: CliContext): Promise<Config['serve']> {
  if (config !== undefined) return settingsIn(path.resolve(context.cwd, config));
  const project = await projectIfAny(context);
  if (project === null) return (await loadConfig(path.join(context.cwd, '.mahabharatha', 'config.yaml'))).serve;
  const settings = await readSettings(project, context, 'container');
  await askTrust(project, settings, trustConfig, context);
  return configOf(project, settings).serve;
}

/** A named file must be there: without it the server would offer something else than was meant. */
async function settingsIn(file: string): Promise<Config['serve']> {
  if (!(await isThere(file)))
    throw libErrors.USAGE({
      problem: `There is no file ${file}.`,
      hint: 'Name the configuration that the server is to have.',
    });
  return (await loadConfig(file)).serve;
}

/** What the command line says, and then the environment. */
function named({ host, port }: Input, { env }: CliContext): Partial<Pick<Config['serve'], 'host' | 'port'>> {
  const [wantedHost, wantedPort] = [host ?? env['HOST'], port ?? env['PORT']];
  if (wantedPort !== undefined && (!/^\d{1,5}$/.test(wantedPort) || Number(wantedPort) > LAST_PORT))
    throw libErrors.USAGE({ problem: `"${wantedPort}" is not a port.`, hint: 'Name a number from 0 to 65535.' });
  return {
    ...(wantedHost === undefined || wantedHost === '' ? {} : { host: wantedHost }),
    ...(wantedPort === undefined ? {} : { port: Number(wantedPort) }),
  };
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
