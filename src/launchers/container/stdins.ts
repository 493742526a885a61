import type { Writable } from 'node:stream';
import type { AgentAccess, Credentials } from '../../protocol/index.ts';

/** The stdins of the workers that this process has started: of others they have ended with the process that had them. */
export interface Stdins {
  hold(session: string, stdin: Writable): void;
  drop(session: string): void;
  isOpen(session: string): boolean;
  /** Writes what the agent of one attempt proves itself with. A worker whose stdin has ended knows that it gets none. */
  giveCredentials(session: string, attempt: string, access: AgentAccess): void;
}

export function createStdins(): Stdins {
  const held = new Map<string, Writable>();
  return {
    hold: (session, stdin) => void held.set(session, stdin),
    drop: (session) => void held.delete(session),
    isOpen: (session) => held.get(session)?.writable ?? false,
    giveCredentials: (session, attempt, access) => {
      const stdin = held.get(session);
      const line: Credentials = { version: 1, attempt, ...access };
      if (stdin?.writable) stdin.write(`${JSON.stringify(line)}\n`);
    },
  };
}
