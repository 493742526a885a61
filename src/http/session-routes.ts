import type { z } from 'zod';
import * as bodies from './bodies.ts';
import { captureOutput } from '../sandbox/index.ts';
import type { SessionFacts, Sessions } from '../sandbox/index.ts';
import { openEventStream } from './event-stream.ts';
import { fileRoutes } from './file-routes.ts';
import { refusalOf } from './refusal.ts';
import { route, STREAMED } from './route.ts';
import type { Admission } from './admission.ts';
import type { Call, Route } from './route.ts';
import { goneSignal } from './gone.ts';
import { endOf, runForReader, runUntilGone, wishOf } from './run-command.ts';
import type { ReadyWish } from './run-command.ts';

/** Of each stream, in an answer that is not streamed. */
const OUTPUT_BYTES = 1024 * 1024;

const GONE = { 404: 'SESSION_UNKNOWN' } as const;
const BUSY = {
  ...GONE,
  400: 'PATH_REFUSED, ENV_FILE_INVALID, NOTHING_TO_RUN, COMMAND_TOO_LARGE',
  403: 'COMMAND_DENIED',
  409: 'SESSION_BUSY, CACHE_TOO_LARGE',
  410: 'SESSION_ENDED',
} as const;

/** Sessions: a container each, with a working directory that lasts. */
export function sessionRoutes(sessions: Sessions, admission: Admission): readonly Route[] {
  return [
    ...openRoutes(sessions, admission),
    ...lifeRoutes(sessions),
    ...commandRoutes(sessions),
    ...fileRoutes(sessions),
  ];
}

function openRoutes(sessions: Sessions, admission: Admission): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/sessions',
      summary: 'Open a session',
      body: bodies.newSession,
      answer: bodies.session,
      refusals: {
        400: 'RUNTIME_UNKNOWN',
        403: 'NETWORK_REFUSED',
        409: 'CACHE_BUSY',
        501: 'SESSION_UNABLE',
        503: 'SESSIONS_FULL',
      },
      handle: async ({ body, user }) => {
        const { project_id: project, runtime_type: runtime, network = false, cache = false } = body;
        const wish = { network: network === false ? null : network, cacheOf: cache ? user : null };
        const facts = await sessions.create({ project, runtime, ...wish });
        admission.opened(user, facts.id);
        return nameOf(facts);
      },
    }),
    route({
      method: 'GET',
      path: '/v1/sessions',
      summary: 'The open sessions of the user who asks',
      answer: bodies.sessionList,
      handle: async ({ user }) => ({
        sessions: sessions
          .list()
          .filter(({ id }) => admission.isOwn(user, id))
          .map(factsOf),
      }),
    }),
  ];
}

function lifeRoutes(sessions: Sessions): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/sessions/:id',
      summary: 'One session',
      answer: bodies.sessionFacts,
      refusals: GONE,
      handle: async ({ params }) => factsOf(sessions.facts(idOf(params))),
    }),
    route({
      method: 'DELETE',
      path: '/v1/sessions/:id',
      summary: 'End a session, with its container and its workspace',
      answer: bodies.destroyed,
      refusals: GONE,
      handle: async ({ params }) => {
        await sessions.destroy(idOf(params));
        return { destroyed: true as const };
      },
    }),
  ];
}

function commandRoutes(sessions: Sessions): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/sessions/:id/exec',
      summary: 'Run a command in the working directory of the session',
      body: bodies.exec,
      answer: bodies.execResult,
      streams: ['text/event-stream'],
      refusals: BUSY,
      handle: (call) => execute(sessions, call),
    }),
    route({
      method: 'POST',
      path: '/v1/sessions/:id/kill',
      summary: 'End the running command',
      answer: bodies.killed,
      refusals: GONE,
      handle: async ({ params }) => ({ killed: await sessions.kill(idOf(params)) }),
    }),
  ];
}

const idOf = (params: Call['params']): string => params['id'] ?? '';

type ExecCall = Omit<Call, 'body'> & { readonly body: z.infer<typeof bodies.exec> };

async function execute(
  sessions: Sessions,
  call: ExecCall,
): Promise<z.infer<typeof bodies.execResult> | typeof STREAMED> {
  const { params, body, request, reply } = call;
  const id = idOf(params);
  const gone = goneSignal(reply);
  // Refused with a status as long as that is possible.
  const wish = await sessions.prepare(id, wishOf(body));
  gone.throwIfAborted();
  if (/text\/event-stream/i.test(request.headers.accept ?? '')) {
    await stream(sessions, id, wish, reply);
    return STREAMED;
  }
  const output = captureOutput(OUTPUT_BYTES);
  const end = await runUntilGone(sessions, id, { wish, gone }, output.sink);
  const [stdout, stderr] = [output.text('stdout'), output.text('stderr')];
  const facts = endOf(end);
  return {
    ok: facts.exit_code === 0,
    stdout: stdout.text,
    stderr: stderr.text,
    stdout_truncated: stdout.isCut,
    stderr_truncated: stderr.isCut,
    ...facts,
  };
}

async function stream(sessions: Sessions, id: string, wish: ReadyWish, reply: Call['reply']): Promise<void> {
  const events = openEventStream(reply);
  try {
    const end = await runForReader(sessions, id, wish, events);
    await events.send('exit', JSON.stringify(end));
  } catch (error) {
    await events.send('error', JSON.stringify(refusalOf(error).body));
  } finally {
    events.end();
  }
}

function nameOf({ id, workspace }: SessionFacts): z.infer<typeof bodies.session> {
  return { session_id: id, workspace_path: workspace };
}

function factsOf(facts: SessionFacts): z.infer<typeof bodies.sessionFacts> {
  const { project, runtime, cwd, busy, hasNetwork, hasCache, createdAt, lastUsedAt } = facts;
  return {
    ...nameOf(facts),
    project_id: project,
    runtime_type: runtime,
    cwd,
    busy,
    network: hasNetwork,
    cache: hasCache,
    created_at: new Date(createdAt).toISOString(),
    last_used_at: new Date(lastUsedAt).toISOString(),
  };
}
