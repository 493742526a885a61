import { createConfig, lintFromString } from '@redocly/openapi-core';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fromSchema, spoiled } from '../support/from-schema.ts';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

type Schema = Parameters<typeof fromSchema>[0];
interface Operation {
  readonly parameters: readonly { in: 'path' | 'query'; name: string; required: boolean; schema: Schema }[];
  readonly requestBody?: { content: { 'application/json': { schema: Schema } } };
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema: object }> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: { readonly Refusal: object } };
}

/** What any server may answer, and the document does not name for each request. */
const ANY = new Set(['404', '413', '414', '415', '429']);
const LONGEST_MS = 60_000;
const RUNS = Number(process.env['MAHABHARATHA_FUZZ'] ?? 40);

/** Half a character has no place in an address. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

interface Asked {
  readonly path: Record<string, string>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
}

/** A command that waits would not be a hang of the server. */
const limited = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'timeout_s' in body && typeof body.timeout_s === 'number'
    ? { ...body, timeout_s: Math.min(body.timeout_s, 2) }
    : body;

describe.skipIf(docker.why !== '')(`the description of the server${whySkipped}`, () => {
  let served: Served;
  let document: Document;
  const sessions: string[] = [];
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest({
      config: '  limits: { sessions: 4, user_requests: 100000, project_requests: 100000 }\n',
    });
    document = (await served.ask('GET', '/openapi.json')).body as unknown as Document;
    for (const project_id of ['a', 'b']) {
      const { body } = await served.ask('POST', '/v1/sessions', { project_id, runtime_type: 'shell' });
      sessions.push(String(body['session_id']));
    }
  });
  afterAll(async () => expect(await served.end()).toBe(0));

  it('is what a linter of OpenAPI documents wants', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const source = JSON.stringify(document);
    const problems = await lintFromString({ source, config, absoluteRef: '/openapi.json' });
    // A request that opens a web socket is answered with 101.
    const others = problems.filter(({ location: [place] }) => place?.pointer?.includes('exec/get/responses') !== true);
    expect(others.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });

  const valueOf = (name: string): fc.Arbitrary<string> => {
    const known = name === 'language' ? ['shell', 'javascript'] : sessions;
    return fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...known) },
      fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
    );
  };

  function requests({ parameters, requestBody }: Operation): fc.Arbitrary<Asked> {
    const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => [name, valueOf(name)]);
    const inQuery = parameters
      .filter((each) => each.in === 'query')
      .map(({ name, schema }) => [name, fc.oneof(fromSchema(schema), fc.string())]);
    return fc.record({
      path: fc.record(Object.fromEntries(inPath) as Record<string, fc.Arbitrary<string>>),
      query: fc.record(Object.fromEntries(inQuery) as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] }),
      body:
        requestBody === undefined ? fc.constant(undefined) : spoiled(requestBody.content['application/json'].schema),
    });
  }

  async function check(
    method: string,
    path: string,
    operation: Operation,
    { path: parts, query, body }: Asked,
  ): Promise<void> {
    const place = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(wellFormed(parts[name] ?? '')));
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) search.set(name, wellFormed(String(value)));
    const response = await fetch(`${served.address}${place}?${search.toString()}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(limited(body)), headers: { 'content-type': 'application/json' } }),
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    const text = await response.text();
    const status = String(response.status);
    const said = operation.responses[status];
    const why = `${method} ${place} ${JSON.stringify(body)} -> ${status} ${text.slice(0, 300)}`;
    expect(said !== undefined || ANY.has(status), why).toBe(true);
    expect(response.status === 503 || response.status < 500, why).toBe(true);
    if (response.headers.get('content-type')?.startsWith('text/plain') === true) return;
    const schema = said?.content?.['application/json']?.schema ?? document.components.schemas.Refusal;
    const wanted = '$ref' in schema ? document.components.schemas.Refusal : schema;
    const { error } = z.fromJSONSchema(wanted as Parameters<typeof z.fromJSONSchema>[0]).safeParse(JSON.parse(text));
    expect(error?.issues, why).toBeUndefined();
  }

  it('has what is answered to any request that is made from it: no fault, no hang, no other body', async () => {
    for (const [path, operations] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(operations)) {
        // The two sessions stay.
        if (method === 'delete') continue;
        const property = fc.asyncProperty(requests(operation), (asked) =>
          check(method.toUpperCase(), path, operation, asked),
        );
        await fc.assert(property, { numRuns: RUNS });
      }
    for (const session of sessions) {
      const { body } = await served.ask('POST', `/v1/sessions/${session}/exec`, {
        command: 'echo canary',
        reset_cwd: true,
      });
      expect(body).toMatchObject({ stdout: 'canary\n' });
    }
  });

  it('is there for people too, as a page that may load and run nothing', async () => {
    const response = await fetch(`${served.address}/docs`);
    const html = await response.text();
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*style-src 'sha256-/);
    for (const path of Object.keys(document.paths)) expect(html).toContain(path);
    expect(html).not.toMatch(/<script|https?:\/\/|<[^>]+ (style|on\w+)=/);
  });
});
