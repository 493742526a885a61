import type { Writable } from 'node:stream';
import type { AgentAccess } from '../../protocol/index.ts';
import type { WorkerHandle } from '../launcher.ts';
import { credentialsLine } from './stdin-lines.ts';

type Named = Pick<WorkerHandle, 'session' | 'worker'>;

const NOTHING: AgentAccess = { agent: { env: {}, files: [] }, secrets: [], injected: false };

/** The stdins of the workers that this process has started. That of any other worker ended with the process that started it. */
export function createWorkerStdins() {
  const stdins = new Map<string, Writable>();
  /** Where the egress proxy adds the credentials: what a worker may prove itself with to it while it has an agent. */
  const modelTokens = new Map<string, string>();
  const drop = (session: string): void => {
    stdins.delete(session);
    modelTokens.delete(session);
  };
  return {
    attached: (session: string, stdin: Writable): void => void stdins.set(session, stdin),
    proves: (session: string, modelToken: string | null): void => {
      if (modelToken !== null) modelTokens.set(session, modelToken);
    },
    drop,
    dropAfter: async (session: string, end: Promise<unknown>): Promise<void> => {
      await end.catch(() => undefined);
      drop(session);
    },
    isOpen: ({ session }: Pick<Named, 'session'>): boolean => stdins.get(session)?.writable ?? false,
    give: ({ session, worker }: Named, attempt: string, access: AgentAccess = NOTHING): void => {
      const stdin = stdins.get(session);
      const token = access.injected ? modelTokens.get(session) : undefined;
      const model = token === undefined ? null : { worker, token };
      // A worker whose stdin has ended does not wait for credentials.
      if (stdin?.writable) stdin.write(`${credentialsLine(attempt, access, model)}\n`);
    },
  };
}
