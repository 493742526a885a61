import { describeEndpoint } from './endpoint.ts';
import type { DockerEndpoint } from './endpoint.ts';
import { STRATEGIES } from './strategies.ts';
import type { Machine } from './strategies.ts';

/** Asks at a place whether an engine answers, and which. */
export type Probe = (endpoint: DockerEndpoint) => Promise<ProbeResult>;

type ProbeResult =
  | { readonly answers: true; readonly engine: string }
  | { readonly answers: false; readonly reason: string; readonly absent: boolean };

export interface Discovery {
  readonly endpoint: DockerEndpoint | undefined;
  /** One line for each way to an engine, in the order of the search: for `doctor`. */
  readonly lines: readonly string[];
  /** The lines of the ways that lead to a place. */
  readonly tried: readonly string[];
  /** Those of them where an engine is expected and does not answer: the user has chosen it, or its socket is there. */
  readonly silent: readonly string[];
}

/**
 * Looks for an engine as the `docker` command would. What the user has chosen is final even when it does not work:
 * containers must not appear on another engine than the one that the user watches. Without a choice, the usual sockets
 * are tried in order.
 */
export async function discover(machine: Machine, probe: Probe): Promise<Discovery> {
  const lines: string[] = [];
  const tried: string[] = [];
  const silent: string[] = [];
  const seen = new Set<string>();
  const note = (line: string): void => {
    lines.push(line);
    tried.push(line);
  };
  for (const { name, isChoice, find } of STRATEGIES) {
    const finding = await find(machine);
    if (finding.kind === 'nothing') {
      lines.push(`${name}: ${finding.reason}`);
      continue;
    }
    if (finding.kind === 'refused') {
      note(`${name}: ${finding.reason}`);
      silent.push(`${name}: ${finding.reason}`);
      break;
    }
    const { endpoint } = finding;
    const place = describeEndpoint(endpoint);
    if (seen.has(place)) continue;
    seen.add(place);
    const result = await probe(endpoint);
    note(`${name}: ${result.answers ? `${place}: ${result.engine}` : result.reason}`);
    if (result.answers) return { endpoint, lines, tried, silent };
    if (isChoice || !result.absent) silent.push(`${name}: ${result.reason}`);
    if (isChoice) break;
  }
  return { endpoint: undefined, lines, tried, silent };
}
