import type { CallHooks } from '../code/index.ts';
import { repeat, untilAll } from '../lib/index.ts';
import type { Timer } from '../lib/index.ts';
import type { CodeRunner } from './code-runner.ts';
import { mcpErrors } from './errors.ts';

/** How often idle sessions are looked for, at least. */
const LOOK_MS = 30_000;

interface SessionLimits {
  /** Open sessions of one user. */
  readonly sessions: number;
  readonly idle: number;
}

/** One client: its sessions are its own, whatever names it gives them. */
export interface RunnerOfClient extends CodeRunner {
  endCalls(): void;
  /** Ends its calls and its sessions. It may open others. */
  end(): Promise<void>;
}

interface Session {
  readonly user: string;
  readonly client: number;
  /** As the client names it. */
  readonly name: string;
  calls: number;
  idleSince: number;
}

interface Known {
  readonly runner: CodeRunner;
  readonly limits: SessionLimits;
  readonly now: () => number;
  /** By the name that the runner knows. */
  readonly sessions: Map<string, Session>;
}

export type Clients = ReturnType<typeof createClients>;

/** Gives each client sessions of its own, and ends those that are idle for too long. */
export function createClients(runner: CodeRunner, limits: SessionLimits, now: () => number = () => performance.now()) {
  const known: Known = { runner, limits, now, sessions: new Map() };
  let clients = 0;
  const expire = async (): Promise<void> => {
    const idle = [...known.sessions].filter(([, each]) => each.calls === 0 && now() - each.idleSince > limits.idle);
    await untilAll(idle.map(([key]) => endSession(known, key)));
  };
  return {
    open: (user: string): RunnerOfClient => {
      clients += 1;
      return openClient(known, user, clients);
    },
    expire,
    /** Looks for idle sessions from now on. */
    watch: (onFailure: (error: unknown) => void): Timer => repeat(Math.min(LOOK_MS, limits.idle), expire, onFailure),
  };
}

type Work<Result> = (key: string, hooks: CallHooks) => Promise<Result>;

function openClient(known: Known, user: string, client: number): RunnerOfClient {
  const { runner, now, sessions } = known;
  const keyOf = (name: string): string => `${client}.${name}`;
  const calls = new Set<AbortController>();
  const inSession = async <Result>(name: string, hooks: CallHooks, work: Work<Result>): Promise<Result> => {
    // There is nothing that stays from one call to the next, and so nothing to count.
    if (runner.mode === 'preload') return during(calls, hooks, (own) => work(keyOf(name), own));
    const session = sessionFor(known, keyOf(name), { user, client, name });
    session.calls += 1;
    try {
      return await during(calls, hooks, (own) => work(keyOf(name), own));
    } finally {
      session.calls -= 1;
      session.idleSince = now();
    }
  };
  const endCalls = (): void => {
    for (const call of calls) call.abort(mcpErrors.CLIENT_GONE({}));
  };
  const { packages } = runner;
  return {
    mode: runner.mode,
    run: (name, wish, hooks) => inSession(name, hooks, (key, own) => runner.run(key, wish, own)),
    packages: packages && {
      install: (name, requests, hooks) => inSession(name, hooks, (key, own) => packages.install(key, requests, own)),
      list: (name, hooks) => packages.list(keyOf(name), hooks),
    },
    reset: (name) => endSession(known, keyOf(name)),
    endCalls,
    end: async () => {
      endCalls();
      const own = [...sessions].filter(([, session]) => session.client === client);
      await untilAll(own.map(([key]) => endSession(known, key)));
    },
  };
}

function endSession({ sessions, runner }: Known, key: string): Promise<boolean> {
  sessions.delete(key);
  return runner.reset(key);
}

/** Throws CODE_SESSIONS_FULL. */
function sessionFor(
  { sessions, limits, now }: Known,
  key: string,
  made: Omit<Session, 'calls' | 'idleSince'>,
): Session {
  const found = sessions.get(key);
  if (found !== undefined) return found;
  const others = [...sessions.values()].filter(({ user }) => user === made.user);
  if (others.length >= limits.sessions) {
    const open = others.filter(({ client }) => client === made.client).map(({ name }) => name);
    throw mcpErrors.CODE_SESSIONS_FULL({ limit: limits.sessions, open });
  }
  const session = { ...made, calls: 0, idleSince: now() };
  sessions.set(key, session);
  return session;
}

/** A call that ends with its client as well. */
async function during<Result>(
  calls: Set<AbortController>,
  { signal, onProgress }: CallHooks,
  work: (hooks: CallHooks) => Promise<Result>,
): Promise<Result> {
  const call = new AbortController();
  const off = (): void => call.abort(signal.reason);
  if (signal.aborted) off();
  signal.addEventListener('abort', off);
  calls.add(call);
  try {
    return await work({ signal: call.signal, onProgress });
  } finally {
    calls.delete(call);
    signal.removeEventListener('abort', off);
  }
}
