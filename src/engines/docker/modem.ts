import http from 'node:http';
import https from 'node:https';
import type Dockerode from 'dockerode';
import { AppError, reasonOf } from '../../lib/index.ts';
import type { DockerEndpoint } from './endpoint.ts';

/** The part of dockerode that carries requests. */
export type Modem = Dockerode['modem'];

/** Loading dockerode takes near half a second: only who talks to an engine pays for it. */
export async function loadModem(endpoint: DockerEndpoint): Promise<Modem> {
  const { default: Docker } = await import('dockerode');
  try {
    return new Docker(modemOptions(endpoint)).modem;
  } catch (error) {
    // Whatever we name, it looks at DOCKER_HOST and DOCKER_CERT_PATH too, and does not like everything there.
    throw new AppError('ENGINE_FAILED', { call: 'be set up', reason: reasonOf(error) }, { cause: error });
  }
}

/** Names every option: what is left out, dockerode takes from DOCKER_HOST and its like, whatever we have decided. */
function modemOptions(endpoint: DockerEndpoint): Dockerode.DockerOptions & { agent: http.Agent } {
  const none = { ca: undefined, cert: undefined, key: undefined, timeout: undefined, pathPrefix: undefined };
  if (endpoint.kind === 'socket') {
    const agent = new http.Agent({ keepAlive: true });
    return { ...none, socketPath: endpoint.path, host: undefined, port: undefined, protocol: 'http', agent };
  }
  const { host, port, tls } = endpoint;
  const place = { ...none, socketPath: undefined, host, port };
  if (tls === null) return { ...place, protocol: 'http', agent: new http.Agent({ keepAlive: true }) };
  const { verify, ...files } = tls;
  const agent = new https.Agent({ ...files, keepAlive: true, rejectUnauthorized: verify });
  return { ...place, ...files, protocol: 'https', agent };
}
