import type { Injection, NoInjection } from '../credentials/index.ts';

/** Which way the credentials of Claude Code in a container go. */
export type CredentialsLine =
  | { readonly way: 'inject'; readonly source: string; readonly host: string }
  | { readonly way: 'handover'; readonly source: string; readonly because: string };

/** Pure. */
export function credentialsLine(source: string, injection: Injection | NoInjection): CredentialsLine {
  return 'because' in injection
    ? { way: 'handover', source, because: injection.because }
    : { way: 'inject', source, host: injection.host };
}

/** Pure. For people. `what` is how the credentials are called where their source is named already. */
export function credentialsInWords(line: CredentialsLine, what = line.source): string {
  return line.way === 'inject'
    ? `inject: the egress proxy adds ${what} to requests for ${line.host}; no worker has it`
    : `handover: the agent in the container gets ${what}, because ${line.because}`;
}
