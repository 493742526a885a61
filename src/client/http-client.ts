import { serverEvents } from './events.ts';
import { RunnerError } from './types.ts';
import type {
  ExecEnd,
  ExecOutput,
  ExecRequest,
  ExecResult,
  IDEFile,
  IRunnerClient,
  RunnerSession,
  RuntimeType,
} from './types.ts';

interface HttpRunnerOptions {
  /** Say "http://localhost:8000". */
  readonly url: string;
  /** For a server that asks for one. */
  readonly token?: string;
  readonly fetch?: typeof fetch;
}

/** Runs commands on a server. It needs `fetch` and nothing of Node, so that it works in a browser. */
export class HttpRunnerClient implements IRunnerClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch;

  constructor({ url, token, fetch: own }: HttpRunnerOptions) {
    this.#url = url.replace(/\/+$/, '');
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    // A browser's fetch refuses to be called on another object.
    this.#fetch = own ?? ((...args) => fetch(...args));
  }

  createSession(projectId: string, runtimeType: RuntimeType): Promise<RunnerSession> {
    return this.#ask('POST', '/v1/sessions', { project_id: projectId, runtime_type: runtimeType });
  }

  exec(sessionId: string, req: ExecRequest): Promise<ExecResult> {
    return this.#ask('POST', `${place(sessionId)}/exec`, req);
  }

  /** The same with the output as it comes. To abort the signal ends the command. */
  async stream(
    sessionId: string,
    req: ExecRequest,
    onOutput: (output: ExecOutput) => void,
    signal?: AbortSignal,
  ): Promise<ExecEnd> {
    const accept = { accept: 'text/event-stream' };
    const response = await this.#send('POST', `${place(sessionId)}/exec`, { body: req, headers: accept, signal });
    if (response.body === null) throw new RunnerError(response.status, 'NO_BODY', 'The answer has no body.');
    for await (const { event, data } of serverEvents(response.body)) {
      if (event === 'stdout' || event === 'stderr') onOutput({ stream: event, text: data });
      if (event === 'exit') return JSON.parse(data) as ExecEnd;
      if (event === 'error')
        throw new RunnerError(500, 'STREAM_FAILED', (JSON.parse(data) as { detail: string }).detail);
    }
    throw new RunnerError(500, 'STREAM_ENDED', 'The stream has ended before the command.');
  }

  async syncWorkspace(sessionId: string, files: readonly IDEFile[]): Promise<void> {
    await this.#ask('POST', `${place(sessionId)}/upload`, { files });
  }

  async killProcess(sessionId: string): Promise<void> {
    await this.#ask('POST', `${place(sessionId)}/kill`);
  }

  async destroySession(sessionId: string): Promise<void> {
    await this.#ask('DELETE', place(sessionId));
  }

  async #ask<Answer>(method: string, where: string, body?: object): Promise<Answer> {
    const response = await this.#send(method, where, { body });
    return (await response.json()) as Answer;
  }

  /** Throws RunnerError. */
  async #send(method: string, where: string, { body, headers, signal }: Sending): Promise<Response> {
    const response = await this.#fetch(`${this.#url}${where}`, {
      method,
      headers: { ...this.#headers, ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (response.ok) return response;
    const refusal = (await response.json().catch(() => ({}))) as { detail?: string; code?: string };
    throw new RunnerError(
      response.status,
      refusal.code ?? 'UNKNOWN',
      refusal.detail ?? `The answer is ${response.status}.`,
    );
  }
}

interface Sending {
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

const place = (sessionId: string): string => `/v1/sessions/${encodeURIComponent(sessionId)}`;
