/** Where an engine listens. */
export type DockerEndpoint =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls: TlsFiles | null };

export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** False when the user's context says "SkipTLSVerify". */
  readonly verify: boolean;
}

/** What one way to an engine leads to. */
export type Finding =
  | { readonly kind: 'endpoint'; readonly endpoint: DockerEndpoint }
  | { readonly kind: 'nothing'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

const PLAIN_PORT = 2375;
const TLS_PORT = 2376;

export function describeEndpoint(endpoint: DockerEndpoint): string {
  if (endpoint.kind === 'socket') return endpoint.path;
  return `tcp://${endpoint.host}:${endpoint.port}${endpoint.tls === null ? '' : ' (TLS)'}`;
}

/** Reads the value of DOCKER_HOST, or of a context: "unix:///run/docker.sock", "tcp://host:2375". */
export function parseHost(text: string, tls: TlsFiles | null): Finding {
  const [, scheme = 'tcp', rest = text] = /^([a-z]+):\/\/(.*)$/.exec(text) ?? [];
  if (scheme === 'unix') {
    if (rest === '') return refused(`"${text}" names no socket`);
    return { kind: 'endpoint', endpoint: { kind: 'socket', path: rest } };
  }
  // Worktrees are mounted from the disk of this machine: an engine on another one would find none of them.
  if (scheme === 'ssh')
    return refused(`"${text}": engines behind SSH are not supported, they do not see this machine's files`);
  if (scheme === 'https') return parseAddress(text, rest, tls ?? { verify: true });
  if (scheme === 'tcp' || scheme === 'http') return parseAddress(text, rest, tls);
  return refused(`"${text}" is no address that is understood (unix://, tcp://)`);
}

const refused = (reason: string): Finding => ({ kind: 'refused', reason });

function parseAddress(text: string, rest: string, tls: TlsFiles | null): Finding {
  const url = URL.canParse(`engine://${rest}`) ? new URL(`engine://${rest}`) : undefined;
  if (url === undefined || url.hostname === '' || !['', '/'].includes(url.pathname)) {
    return refused(`"${text}" is not of the form tcp://host:port`);
  }
  const port = url.port === '' ? (tls === null ? PLAIN_PORT : TLS_PORT) : Number(url.port);
  return { kind: 'endpoint', endpoint: { kind: 'tcp', host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port, tls } };
}
