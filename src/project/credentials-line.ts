import type { Injection, NoInjection } from '../credentials/index.ts';

/** Which way the credentials of an agent in a container go. */
export type CredentialsLine = { readonly agent: string; readonly source: string } & (
  | { readonly way: 'inject'; readonly host: string }
  | { readonly way: 'handover'; readonly because: string }
);

/** Pure. */
export function credentialsLine(agent: string, source: string, injection: Injection | NoInjection): CredentialsLine {
  return 'because' in injection
    ? { way: 'handover', agent, source, because: injection.because }
    : { way: 'inject', agent, source, host: injection.host };
}

/** Pure. For people. `what` is how the credentials are called where their source is named already. */
export function credentialsInWords(line: CredentialsLine, what = line.source): string {
  return line.way === 'inject'
    ? `inject: the egress proxy adds ${what} to requests for ${line.host}; no worker has it`
    : `handover: ${line.agent} in the container gets ${what}, because ${line.because}`;
}
