import path from 'node:path';
import type { Config } from '../../config/index.ts';
import { findEngine } from '../../engines/index.ts';
import { openLog, openServer } from '../../http/index.ts';
import { asAppError, line, printable, printableJson, printableOutput } from '../../lib/index.ts';
import { configOf, folderPlace, projectIfAny, readSettings } from '../../project/index.ts';
import type { BuildListener } from '../../project/index.ts';
import { askTrust } from '../ask-trust.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { serve } from '../commands/serve.ts';
import { readyImage } from '../images/ready-image.ts';
import { buildView } from '../render/build-view.ts';
import { interrupted, namedConfig, portIn, tokensFor } from './listening.ts';

type Input = InputOf<typeof serve>;

/** `serve`: answers requests until it is interrupted. */
export async function serveRequests(input: Input, context: CliContext): Promise<number> {
  const settings = { ...(await settingsFor(input, context)), ...named(input, context) };
  const tokens = await tokensFor(input, settings.host, context.cwd);
  const engine = await findEngine(context.env);
  const view = (): BuildListener => buildView(input.json ? context : { ...context, out: context.err }, input.json);
  const runtimeImage = await readyImage(engine, { use: 'sandbox', view }, context);
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

/** A file that is named is approved by that; the settings of the folder need an approval, also where it is no repository. */
async function settingsFor({ config, trustConfig }: Input, context: CliContext): Promise<Config['serve']> {
  if (config !== undefined) return (await namedConfig(path.resolve(context.cwd, config))).serve;
  const project = await projectIfAny(context);
  const place = project ?? folderPlace(context.cwd);
  // An .npmrc outside of a repository is the user's own.
  const settings = await readSettings(place, context, project === null ? 'subprocess' : 'container');
  await askTrust(place, settings, trustConfig, context);
  return configOf(place, settings).serve;
}

/** What the command line says, and then the environment. */
function named({ host, port }: Input, { env }: CliContext): Partial<Pick<Config['serve'], 'host' | 'port'>> {
  const [wantedHost, wantedPort] = [host ?? env['HOST'], port ?? env['PORT']];
  return {
    ...(wantedHost === undefined || wantedHost === '' ? {} : { host: wantedHost }),
    ...(wantedPort === undefined ? {} : { port: portIn(wantedPort) }),
  };
}
