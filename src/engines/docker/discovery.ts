import { describeEndpoint } from './endpoint.ts';
import type { DockerEndpoint } from './endpoint.ts';
import { STRATEGIES } from './strategies.ts';
import type { Machine } from './strategies.ts';

/** Whether an engine answers at a place, and which, or why not. */
export type Probe = (endpoint: DockerEndpoint) => Promise<ProbeResult>;

type ProbeResult =
  | { readonly answers: true; readonly engine: string }
  | { readonly answers: false; readonly reason: string; readonly absent: boolean };

export interface Discovery {
  readonly endpoint: DockerEndpoint | undefined;
  /** One line for each way to an engine, in the order they were looked at: for `doctor`. */
  readonly lines: readonly string[];
  /** The lines of those places that were there to be tried. */
  readonly tried: readonly string[];
  /** Those of them that speak of an engine that is stopped or out of reach: one that the user has chosen, a socket that is there. */
  readonly silent: readonly string[];
}

/**
 * Looks for an engine as the `docker` command would: what the user has chosen is final, whether it works or not, for
 * containers must not turn up on another engine than the one that the user looks at. Without a choice, the usual sockets in order.
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
  for (const strategy of STRATEGIES) {
    const finding = await strategy.find(machine);
    if (finding.kind === 'nothing') {
      lines.push(`${strategy.name}: ${finding.reason}`);
      continue;
    }
    if (finding.kind === 'refused') {
      note(`${strategy.name}: ${finding.reason}`);
      silent.push(`${strategy.name}: ${finding.reason}`);
      break;
    }
    const place = describeEndpoint(finding.endpoint);
    if (seen.has(place)) continue;
    seen.add(place);
    const result = await probe(finding.endpoint);
    note(`${strategy.name}: ${result.answers ? `${place}: ${result.engine}` : result.reason}`);
    if (result.answers) return { endpoint: finding.endpoint, lines, tried, silent };
    if (strategy.isChoice || !result.absent) silent.push(`${strategy.name}: ${result.reason}`);
    if (strategy.isChoice) break;
  }
  return { endpoint: undefined, lines, tried, silent };
}
