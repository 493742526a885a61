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
  /** Asks for a connection that is no longer HTTP. */
  readonly upgrade?: boolean;
  readonly signal: AbortSignal;
}

/** The beginning of an answer; a bare connection when that was asked for and granted. */
export type Answer = IncomingMessage | Duplex;
export type Dial = (request: EngineRequest) => Promise<Answer>;

/** HTTP to one engine, over connections that are used again. */
export function createDial(endpoint: DockerEndpoint): Dial {
  const begin = wayTo(endpoint);
  return ({ method, path, body, upload, upgrade = false, signal }) =>
    new Promise((resolve, reject) => {
      const request = begin({ method, path, headers: headersOf({ body, upload, upgrade }), signal });
      // Also when it breaks later: then the answer tells whoever reads it.
      request.on('error', reject);
      request.once('response', resolve);
      request.once('upgrade', (_, socket, head) => {
        socket.unshift(head);
        resolve(socket);
      });
      if (upload === undefined) request.end(body === undefined ? undefined : JSON.stringify(body));
      else pipeline(upload, request, (error) => void (error && request.destroy(error)));
    });
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

function headersOf({
  body,
  upload,
  upgrade,
}: Pick<EngineRequest, 'body' | 'upload' | 'upgrade'>): Record<string, string> {
  if (upload !== undefined) return { 'Content-Type': 'application/x-tar' };
  if (body !== undefined) return { 'Content-Type': 'application/json' };
  return upgrade === true ? { Connection: 'Upgrade', Upgrade: 'tcp' } : {};
}
