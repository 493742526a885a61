import fastify, { errorCodes } from 'fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { z } from 'zod';
import type { Admission } from './admission.ts';
import { limitAnswers } from './answers.ts';
import type { AnswerLimits } from './answers.ts';
import { httpErrors } from './errors.ts';
import type { ServerLog } from './log.ts';
import { openApi } from './openapi.ts';
import { guardErrors } from '../guard/errors.ts';
import { accountOf, checkRequest, checkSender, createBodyBudget, drain } from '../guard/index.ts';
import type { BodyBudget, Guarding } from '../guard/index.ts';
import { hasCode, readJson } from '../lib/index.ts';
import { closeWithConnection } from './gone.ts';
import { refusalOf } from './refusal.ts';
import { STREAMED } from './route.ts';
import type { Route } from './route.ts';

const MB = 1024 * 1024;
/** Of a request, unless its route says something else. */
const BODY_BYTES = 2 * MB;

interface Limits extends AnswerLimits {
  /** Of all bodies together that are under way. */
  readonly bodiesBytes: number;
  /** For all of a request's headers and its body to come. */
  readonly requestMs: number;
}

const LIMITS: Limits = { bodiesBytes: 256 * MB, requestMs: 60_000, answersBytes: 512 * MB, silentMs: 60_000 };

declare module 'fastify' {
  interface FastifyRequest {
    user: string;
  }
}

const OPTIONS: FastifyServerOptions = {
  bodyLimit: BODY_BYTES,
  forceCloseConnections: true,
  // An address that is none: no route has seen it.
  frameworkErrors: (error, _request, reply: FastifyReply) => {
    const { status, body } = refusalOf(error);
    void reply.status(status).send(body);
  },
};

interface ServerWishes {
  readonly routes: readonly Route[];
  readonly guarding: Guarding;
  readonly admission: Pick<Admission, 'check' | 'checkRate'>;
  readonly version: string;
  readonly log: ServerLog;
}

/** Of a body. */
const TOO_LARGE = 413;

/** Answers with what the routes say: each request is checked against their schemas. */
export function createServer(
  { routes, guarding, admission, version, log }: ServerWishes,
  limits: Partial<Limits> = {},
): FastifyInstance {
  const { bodiesBytes, requestMs, ...forAnswers } = { ...LIMITS, ...limits };
  // Of two limits Node takes the longer one for the body.
  const http = { headersTimeout: requestMs, connectionsCheckingInterval: requestMs / 10 };
  const server = fastify({ ...OPTIONS, requestTimeout: requestMs, http });
  server.decorateRequest('user', '');
  server.addHook('onRequest', async (request, reply) => closeWithConnection(request.raw.socket, reply.raw));
  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { error: known, status, headers, body } = refusalOf(error);
    if (status >= 500 && !reply.raw.destroyed) log.error('fault', { code: known.code, message: known.message });
    const { onFault: facts, hasMessage } = configOf(request);
    return reply
      .status(status)
      .headers(headers)
      .send({ ...body, ...(hasMessage === true ? { message: body.detail } : {}), ...(status >= 500 ? facts : {}) });
  };
  server.setErrorHandler(async (error: FastifyError, request, reply) => {
    if (error.statusCode === TOO_LARGE || hasCode(error, guardErrors.BODIES_FULL)) await drain(request.raw);
    return answerError(error, request, reply);
  });
  server.setNotFoundHandler((request, reply) =>
    reply.status(404).send({
      detail: `There is no ${request.method} ${request.url.slice(0, 200)}.`,
      code: 'NOT_FOUND',
      hint: 'GET /openapi.json lists what there is, and /docs to read.',
    }),
  );
  letIn(server, { guarding, admission, log, budget: createBodyBudget(bodiesBytes) });
  limitAnswers(server, guarding, forAnswers);
  for (const route of routes) add(server, route);
  const description = openApi(routes, version);
  server.get('/openapi.json', () => description);
  return server;
}

/** Who asks for what is known before a route sees it. */
function letIn(
  server: FastifyInstance,
  { guarding, admission, log, budget }: Pick<ServerWishes, 'guarding' | 'admission' | 'log'> & { budget: BodyBudget },
): void {
  server.addHook('onRequest', async (request, reply) => {
    void reply.header('x-content-type-options', 'nosniff');
    answerPages(request, reply, guarding.origins);
    // A CORS preflight carries no token.
    if (request.method === 'OPTIONS') return reply.status(204).send();
    const { isForEveryone, isUnlimited, takesText } = configOf(request);
    // A page may send text anywhere without being asked.
    if (takesText !== true && isText(request)) throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE('text/plain');
    if (isForEveryone === true) return checkSender(request.raw, guarding);
    request.user = checkRequest(request.raw, guarding);
    if (isUnlimited !== true) admission.checkRate(request.user);
  });
  server.addHook('preParsing', async (request, reply, body) =>
    budget.counted(accountOf(guarding, request.user, request.raw), request.raw, reply.raw, body),
  );
  server.addHook('preHandler', async (request) => {
    const { user, body } = request;
    const { id } = (request.params ?? {}) as { readonly id?: string };
    admission.check({ user, session: id, body });
  });
  server.addHook('onResponse', async ({ method, user, routeOptions }, { statusCode, elapsedTime }) =>
    log.debug('answered', {
      method,
      route: routeOptions.url ?? 'none',
      status: statusCode,
      user,
      ms: Math.round(elapsedTime),
    }),
  );
}

const isText = ({ headers }: FastifyRequest): boolean => /^\s*text\/plain/i.test(headers['content-type'] ?? '');

type RouteConfig = Pick<Route, 'onFault' | 'isUnlimited' | 'hasMessage' | 'takesText'> & {
  /** Asked by browsers, without a token. */
  readonly isForEveryone?: true;
};

const configOf = (request: FastifyRequest): RouteConfig => request.routeOptions.config as RouteConfig;

/** Lets pages of these origins read the answers. */
function answerPages({ headers }: FastifyRequest, reply: FastifyReply, origins: readonly string[]): void {
  void reply.header('vary', 'origin');
  if (headers.origin === undefined || !origins.includes(headers.origin)) return;
  void reply.headers({
    'access-control-allow-origin': headers.origin,
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-max-age': '600',
  });
}

function add(server: FastifyInstance, { method, path, body, query, status = 200, handle, ...more }: Route): void {
  const { bodyBytes, onFault, isUnlimited, hasMessage, takesText } = more;
  server.route({
    method,
    url: path,
    ...(bodyBytes === undefined ? {} : { bodyLimit: bodyBytes }),
    config: { onFault, isUnlimited, hasMessage, takesText },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const answer = await handle({
        params: request.params as Record<string, string>,
        body:
          body === undefined
            ? undefined
            : checked(body, takesText === true ? parsed(request.body) : request.body, 'body'),
        query: query === undefined ? undefined : checked(query, request.query, 'query'),
        user: request.user,
        request,
        reply,
        take: (bytes) => request.room?.take(bytes),
      });
      return answer === STREAMED ? reply : reply.status(status).send(answer);
    },
  });
}

const parsed = (body: unknown): unknown => (typeof body === 'string' ? readJson(z.unknown(), body) : body);

/** Throws BODY_INVALID with all that is wrong. */
function checked(schema: z.ZodObject, value: unknown, where: string): unknown {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data;
  const problems = error.issues.map(({ path, message }) => `${path.join('.') || where}: ${message}`);
  throw httpErrors.BODY_INVALID({ where, problems });
}
