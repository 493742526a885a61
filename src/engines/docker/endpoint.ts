/** Where an engine listens. */
export type DockerEndpoint =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls: TlsFiles | null };

export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** False only when the user's context says so. */
  readonly verify: boolean;
}

type ParsedHost =
  | { readonly kind: 'endpoint'; readonly endpoint: DockerEndpoint }
  | { readonly kind: 'refused'; readonly reason: string };

const PLAIN_PORT = 2375;
const TLS_PORT = 2376;

export function describeEndpoint(endpoint: DockerEndpoint): string {
  if (endpoint.kind === 'socket') return endpoint.path;
  return `tcp://${endpoint.host}:${endpoint.port}${endpoint.tls === null ? '' : ' (TLS)'}`;
}

/** Reads what DOCKER_HOST and contexts hold: "unix:///run/docker.sock", "tcp://host:2375". */
export function parseHost(text: string, tls: TlsFiles | null): ParsedHost {
  const [, scheme, rest] = /^([a-z]+):\/\/(.*)$/.exec(text) ?? [undefined, 'tcp', text];
  if (scheme === 'unix') {
    return rest === undefined || rest === ''
      ? { kind: 'refused', reason: `"${text}" names no socket` }
      : { kind: 'endpoint', endpoint: { kind: 'socket', path: rest } };
  }
  if (scheme === 'ssh') return { kind: 'refused', reason: sshReason(text) };
  if (scheme === 'tcp' || scheme === 'http' || scheme === 'https') return parseAddress(text, rest ?? '', tls);
  return { kind: 'refused', reason: `"${text}" is no address that is understood (unix://, tcp://)` };
}

function parseAddress(text: string, rest: string, tls: TlsFiles | null): ParsedHost {
  const url = URL.canParse(`engine://${rest}`) ? new URL(`engine://${rest}`) : undefined;
  if (url === undefined || url.hostname === '' || !['', '/'].includes(url.pathname)) {
    return { kind: 'refused', reason: `"${text}" is not of the form tcp://host:port` };
  }
  const port = url.port === '' ? (tls === null ? PLAIN_PORT : TLS_PORT) : Number(url.port);
  return { kind: 'endpoint', endpoint: { kind: 'tcp', host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port, tls } };
}

/** Worktrees are mounted from this machine's disk: an engine behind SSH would find none of them. */
function sshReason(text: string): string {
  return `"${text}": engines behind SSH are not supported, they do not see this machine's files`;
}
