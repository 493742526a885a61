import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { waitUntil } from './wait-until.ts';
import { docker } from './worker-image.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mahabharatha.js', import.meta.url));

export interface Served {
  readonly pid: number;
  readonly address: string;
  /** Its state folder: no other server knows it. */
  readonly home: string;
  ask(method: string, place: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
  /** Asks by another name of the host. */
  askAs(host: string, place: string): Promise<unknown>;
  /** The text of an answer that is streamed. */
  stream(place: string, body: unknown): Promise<string>;
  /** Resolves with the exit status; the folder goes after an end in order. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  output(): string;
}

export type Ran = Record<string, unknown> & { stdout: string; stderr: string; exit_code: number; file_path: string };

/** Runs a program of a language; however the program ends, the status is 200. */
export async function runProgram(served: Served, language: string, code: string): Promise<Ran> {
  const { status, body } = await served.ask('POST', `/execute/${language}`, { code });
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Ran;
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

interface Serving {
  readonly args?: readonly string[];
  /** More lines of the section, two blanks deep. */
  readonly config?: string;
  /** Spare containers of each runtime: none, so that tests can count theirs. */
  readonly warm?: number;
  /** More lines of its part "runtimes", four blanks deep. */
  readonly runtimes?: string;
  /** That of an earlier server. */
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Kills it this many milliseconds after its start, whatever it does then. */
  readonly killedAfterMs?: number;
}

const newHome = (): string => mkdtempSync(path.join(tmpdir(), 'mahabharatha-served-'));

/** Starts `mahabharatha serve` with the test's base image for sessions of the type "shell". */
export async function serveForTest({
  args = [],
  config = '',
  warm = 0,
  runtimes = '',
  home = newHome(),
  env: more = {},
  killedAfterMs,
}: Serving = {}): Promise<Served> {
  const file = path.join(home, 'config.yaml');
  const shell = `    shell: { image: "${docker.image}", default_command: "echo default" }`;
  const languages = [
    `    javascript: { image: "${docker.image}", extension: .js, command: [node, "{filepath}"] }`,
    `    shell: { image: "${docker.image}", extension: .sh, command: [bash, "{filepath}"] }`,
  ];
  // Images of the default runtimes would be fetched.
  const local = ['node', 'python'].map((name) => `    ${name}: { image: "${docker.image}", default_command: "true" }`);
  const lines = [
    'serve:',
    '  port: 0',
    ...(config.includes('limits:')
      ? []
      : [`  limits: { warm: ${warm}, user_requests: 100000, project_requests: 100000 }`]),
    '  runtimes:',
    shell,
    ...local,
    runtimes,
    '  languages:',
    ...languages,
  ];
  writeFileSync(file, `${lines.join('\n')}\n${config}`);
  const env = { ...process.env, XDG_STATE_HOME: home, ...more };
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--config', file, '--json', ...args], { env, cwd: home });
  if (killedAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killedAfterMs);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const addressOf = (): string | undefined => /"type":"serving","address":"([^"]+)"/.exec(text)?.[1];
  await waitUntil('the server', () => addressOf() !== undefined || (child.exitCode ?? child.signalCode) !== null);
  const address = addressOf();
  if (address === undefined) throw new Error(`the server has not started: ${text}`);
  const send = (method: string, place: string, body: unknown, headers: Record<string, string>): Promise<Response> =>
    fetch(`${address}${place}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    pid: child.pid ?? 0,
    address,
    home,
    ask: async (method, place, body, headers = {}) => {
      const response = await send(method, place, body, headers);
      const { status } = response;
      return { status, headers: response.headers, body: (await response.json()) as Record<string, unknown> };
    },
    askAs: (host, place) =>
      new Promise((resolve, reject) => {
        const asked = get(`${address}${place}`, { headers: { host } }, (response) => {
          json(response).then(resolve, reject);
        });
        asked.on('error', reject);
      }),
    stream: async (place, body) => (await send('POST', place, body, { accept: 'text/event-stream' })).text(),
    end: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const exit = await ended;
      if (signal === 'SIGTERM') rmSync(home, { recursive: true, force: true, maxRetries: 5 });
      return exit;
    },
    output: () => text,
  };
}
