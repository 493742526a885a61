import { serverEvents } from './events.ts';
import { createSentFiles } from './sent-files.ts';
import type { SentFiles } from './sent-files.ts';
import { RunnerError } from './types.ts';
import type {
  ExecEnd,
  ExecOutput,
  ExecRequest,
  ExecResult,
  FileContent,
  IDEFile,
  IRunnerClient,
  RunnerSession,
  RuntimeType,
  SessionOptions,
  WorkspaceEntry,
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
  readonly #sent = new Map<string, SentFiles>();

  constructor({ url, token, fetch: own }: HttpRunnerOptions) {
    this.#url = url.replace(/\/+$/, '');
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    // A browser's fetch refuses to be called on another object.
    this.#fetch = own ?? ((...args) => fetch(...args));
  }

  createSession(projectId: string, runtimeType: RuntimeType, options: SessionOptions = {}): Promise<RunnerSession> {
    return this.#ask('POST', '/v1/sessions', { ...options, project_id: projectId, runtime_type: runtimeType });
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
      if (event === 'error') {
        const { code, detail } = JSON.parse(data) as { code: string; detail: string };
        throw new RunnerError(500, code, detail);
      }
    }
    throw new RunnerError(500, 'STREAM_ENDED', 'The stream has ended before the command.');
  }

  /** Sends what the workspace does not have. Of what this client has sent before, the hashes go first. */
  async syncWorkspace(sessionId: string, files: readonly IDEFile[]): Promise<void> {
    const sent = this.#sent.get(sessionId) ?? createSentFiles();
    this.#sent.set(sessionId, sent);
    await sent.sync(files, (part) => this.#ask('POST', `${place(sessionId)}/upload`, { files: part }));
  }

  async removeFiles(sessionId: string, paths: readonly string[]): Promise<void> {
    await this.#ask('POST', `${place(sessionId)}/upload`, { files: [], delete: paths });
  }

  /** What is in the workspace, or in a folder of it: also what commands have made. */
  async listFiles(sessionId: string, folder?: string): Promise<readonly WorkspaceEntry[]> {
    const query = folder === undefined ? '' : `?path=${encodeURIComponent(folder)}`;
    return (await this.#ask<{ files: readonly WorkspaceEntry[] }>('GET', `${place(sessionId)}/files${query}`)).files;
  }

  readFile(sessionId: string, path: string, encoding: 'utf8' | 'base64' = 'utf8'): Promise<FileContent> {
    return this.#ask('GET', `${place(sessionId)}/fs?path=${encodeURIComponent(path)}&encoding=${encoding}`);
  }

  async killProcess(sessionId: string): Promise<void> {
    await this.#ask('POST', `${place(sessionId)}/kill`);
  }

  async destroySession(sessionId: string): Promise<void> {
    this.#sent.delete(sessionId);
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
