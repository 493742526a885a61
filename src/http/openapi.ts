import { z } from 'zod';
import * as bodies from './bodies.ts';
import type { Route } from './route.ts';

/** Answers that every endpoint may give. */
const COMMON = {
  400: 'the request is not as described',
  401: 'no valid token',
  500: 'a fault of the server or the engine',
  503: 'BODIES_FULL, ANSWERS_FULL',
};

/** The description of the server, from the same routes and schemas that it is made of. */
export function openApi(routes: readonly Route[], version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mahabharatha',
      version,
      description: 'Runs commands and programs in locked-down containers.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Refusal: schemaOf(bodies.refusal) },
    },
    security: [{ token: [] }],
  };
}

function operation({ method, path, summary, body, query, answer, status = 200, ...more }: Route) {
  const { media = 'application/json', streams = [], refusals = {} } = more;
  const content = { [media]: { schema: schemaOf(answer, 'output') } };
  const streamed = Object.fromEntries(streams.map((type) => [type, { schema: { type: 'string' } }]));
  const refused = { $ref: '#/components/schemas/Refusal' };
  const others = Object.entries({ ...COMMON, ...refusals }).map(([code, description]) => [
    code,
    { description, content: { 'application/json': { schema: refused } } },
  ]);
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) =>
    parameter('path', name ?? '', { type: 'string' }, true),
  );
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[/:]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    parameters: [...inPath, ...(query === undefined ? [] : inQuery(query))],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } } }),
    responses: {
      [status]: { description: summary, content: { ...content, ...streamed } },
      ...Object.fromEntries(others),
    },
  };
}

function inQuery(query: z.ZodObject): unknown[] {
  const { properties = {}, required = [] } = schemaOf(query) as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => parameter('query', name, schema, required.includes(name)));
}

function parameter(place: 'path' | 'query', name: string, schema: unknown, required: boolean) {
  return { in: place, name, required, schema };
}

/** What is sent may have more than is described, what is answered has not. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output' = 'input'): unknown {
  return { ...z.toJSONSchema(schema, { io }), $schema: undefined };
}
