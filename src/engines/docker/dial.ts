import http from 'node:http';
import https from 'node:https';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { pipeline } from 'node:stream';
import type { Duplex, Readable } from 'node:stream';
import type { DockerEndpoint } from './endpoint.ts';

interface EngineRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object | undefined;
  /** A tar archive, as large as it is. */
  readonly upload?: Readable | undefined;
  readonly signal: AbortSignal;
}

export interface Dial {
  /** The beginning of an answer. */
  ask(request: EngineRequest): Promise<IncomingMessage>;
  /** A connection that is no longer HTTP; an answer when that is not granted. */
  upgrade(request: EngineRequest): Promise<IncomingMessage | Duplex>;
}

/** HTTP to one engine, over connections that are used again. */
export function createDial(endpoint: DockerEndpoint): Dial {
  const begin = wayTo(endpoint);
  return {
    ask: ({ body, upload, ...rest }) =>
      new Promise((resolve, reject) => {
        const request = begin({ ...rest, headers: headersOf(body, upload) });
        // Also when it breaks later: then the answer tells its reader.
        request.on('error', reject);
        request.once('response', resolve);
        if (upload === undefined) request.end(body === undefined ? undefined : JSON.stringify(body));
        else pipeline(upload, request, (error) => void (error && request.destroy(error)));
      }),
    upgrade: (asked) =>
      new Promise((resolve, reject) => {
        const request = begin({ ...asked, headers: { Connection: 'Upgrade', Upgrade: 'tcp' } });
        request.on('error', reject);
        request.once('response', resolve);
        request.once('upgrade', (_, socket, head) => {
          socket.unshift(head);
          resolve(socket);
        });
        // Without a body: what follows one could be taken for the container's stdin.
        request.end();
      }),
  };
}

function wayTo(endpoint: DockerEndpoint): (options: RequestOptions) => ClientRequest {
  if (endpoint.kind === 'tcp' && endpoint.tls !== null) {
    const { host, port } = endpoint;
    const { verify, ...files } = endpoint.tls;
    const agent = new https.Agent({ ...files, keepAlive: true, rejectUnauthorized: verify });
    return (options) => https.request({ ...options, host, port, agent });
  }
  const agent = new http.Agent({ keepAlive: true });
  const place = endpoint.kind === 'tcp' ? { host: endpoint.host, port: endpoint.port } : { socketPath: endpoint.path };
  return (options) => http.request({ ...options, ...place, agent });
}

function headersOf(body: object | undefined, upload: Readable | undefined): Record<string, string> {
  if (upload !== undefined) return { 'Content-Type': 'application/x-tar' };
  return body === undefined ? {} : { 'Content-Type': 'application/json' };
}
