import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { hasCode, randomId } from '../lib/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import type { SandboxEnd } from '../protocol/index.ts';
import type { OutputSink, Running } from './connection.ts';
import { deniedBy } from './denylist.ts';
import { sandboxErrors } from './errors.ts';
import { explained, missingRuntime } from './fetch-image.ts';
import { keepSandbox } from './kept-sandbox.ts';
import type { KeptSandbox } from './kept-sandbox.ts';
import { defaultCommand } from './runtimes.ts';
import type { Runtime, Runtimes } from './runtimes.ts';
import { startSandbox } from './sandbox.ts';
import type { Sandbox, SandboxHome, SandboxLimits } from './sandbox.ts';
import { workspaceFiles } from './workspace.ts';
import type { WorkspaceFiles } from './workspace.ts';

const GRACE_MS = 5000;
/** On a container of a session. */
export const SESSION_ROLE = 'session';

export interface SessionSettings {
  readonly runtimes: Runtimes;
  readonly limits: SandboxLimits;
  /** What programs run as. */
  readonly uid: number;
  /** How many may be open. */
  readonly most: number;
  /** How long an idle one stays open. */
  readonly ttlMs: number;
}

export interface ExecWish {
  /** Undefined: the set-up and the default command of the runtime. */
  readonly command: string | undefined;
  readonly timeoutMs: number;
  readonly resetCwd: boolean;
  readonly env: Readonly<Record<string, string>>;
}

export interface SessionFacts {
  readonly id: string;
  readonly project: string;
  readonly runtime: string;
  readonly workspace: string;
  readonly cwd: string;
  readonly busy: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number;
}

/** Of a command: how it has ended, and whether its container was a new one, with nothing in its workspace. */
export interface Executed extends SandboxEnd {
  readonly cwd: string;
  readonly isWorkspaceNew: boolean;
}

interface Session extends Omit<SessionFacts, 'busy' | 'cwd' | 'lastUsedAt'> {
  readonly kind: Runtime;
  cwd: string;
  lastUsedAt: number;
  readonly kept: KeptSandbox;
  /** Undefined also while its sandbox is being made. */
  running: Running | undefined;
  /** Resolves with its end; undefined when no command is asked for. */
  command: Promise<unknown> | undefined;
  isToBeKilled: boolean;
}

export type Sessions = ReturnType<typeof createSessions>;

/** Sessions: each has a container of its own, a working directory that lasts, and runs one command at a time. */
export function createSessions(home: SandboxHome, settings: SessionSettings) {
  const parts: Parts = { home, settings, open: new Map() };
  const of = (id: string): Session => sessionOf(parts, id);
  return {
    create: (project: string, runtime: string): Promise<SessionFacts> => create(parts, project, runtime),
    list: (): SessionFacts[] => [...parts.open.values()].map(factsOf),
    facts: (id: string): SessionFacts => factsOf(of(id)),
    /** Throws what keeps `exec` from running this command now. */
    check: (id: string, wish: ExecWish): void => check(of(id), wish),
    exec: (id: string, wish: ExecWish, sink: OutputSink): Promise<Executed> => exec(parts, of(id), wish, sink),
    /** False when nothing runs. */
    kill: async (id: string): Promise<boolean> => {
      const session = of(id);
      if (session.command === undefined) return false;
      session.isToBeKilled = true;
      session.running?.kill();
      await session.command.catch(() => undefined);
      return true;
    },
    /** Works with the files of a session; `isNew`: in a new, empty workspace. */
    files: <Result>(id: string, work: FileWork<Result>): Promise<Result> => withFiles(parts, of(id), work),
    destroy: (id: string): Promise<void> => close(parts, of(id)),
    /** Ends the sessions that were idle for too long. */
    expire: async (): Promise<void> => {
      const now = Date.now();
      const idle = [...parts.open.values()].filter(
        ({ command, lastUsedAt }) => command === undefined && now - lastUsedAt > settings.ttlMs,
      );
      await Promise.all(idle.map((session) => close(parts, session)));
    },
    closeAll: async (): Promise<void> => {
      await Promise.all([...parts.open.values()].map((session) => close(parts, session)));
    },
  };
}

type FileWork<Result> = (files: WorkspaceFiles, isNew: boolean) => Promise<Result>;

async function withFiles<Result>(parts: Parts, session: Session, work: FileWork<Result>): Promise<Result> {
  const { sandbox, isNew } = await sandboxOf(session);
  try {
    return await work(workspaceFiles(sandbox, session.workspace, parts.settings.uid), isNew);
  } catch (error) {
    if (!hasCode(error, sandboxErrors.SANDBOX_GONE) || isNew) throw error;
    // Its container was gone before, and no one had noticed.
    return withFiles(parts, session, work);
  }
}

interface Parts {
  readonly home: SandboxHome;
  readonly settings: SessionSettings;
  readonly open: Map<string, Session>;
}

function sessionOf({ open }: Parts, id: string): Session {
  const session = open.get(id);
  if (session === undefined) throw sandboxErrors.SESSION_UNKNOWN({ session: id });
  session.lastUsedAt = Date.now();
  return session;
}

async function create(parts: Parts, project: string, runtime: string): Promise<SessionFacts> {
  const { settings, open } = parts;
  const kind = Object.hasOwn(settings.runtimes, runtime) ? settings.runtimes[runtime] : undefined;
  if (kind === undefined)
    throw sandboxErrors.RUNTIME_UNKNOWN({ runtime, known: Object.keys(settings.runtimes).toSorted() });
  if (open.size >= settings.most) throw sandboxErrors.SESSIONS_FULL({ limit: settings.most });
  const session: Session = newSession(project, runtime, kind, () => startFor(parts, session));
  open.set(session.id, session);
  try {
    await sandboxOf(session);
  } catch (error) {
    open.delete(session.id);
    throw error;
  }
  return factsOf(session);
}

async function close({ open }: Parts, session: Session): Promise<void> {
  open.delete(session.id);
  await session.kept.close();
}

/** Its sandbox; a new one, with nothing in its workspace, when the last one has ended. */
async function sandboxOf(session: Session): ReturnType<KeptSandbox['get']> {
  const got = await session.kept.get();
  if (got.isNew) session.cwd = session.workspace;
  return got;
}

async function startFor({ home, settings }: Parts, session: Session): Promise<Sandbox> {
  const sandbox = await startSandbox(home, wishOf(session, settings)).catch((error: unknown) => {
    throw explained(error, missingRuntime(session.runtime, session.kind));
  });
  // The workspace's own folder is made by the user that owns it.
  const wish = { command: undefined, timeoutMs: 0, resetCwd: false, env: {} };
  const program = programOf(sandbox, session, wish, settings);
  const mkdir = { ...program, argv: ['mkdir', '-p', '--', session.workspace] as const, cwd: '/', timeoutMs: null };
  await sandbox.run(mkdir, () => undefined).end;
  return sandbox;
}

function check({ id, command }: Session, wish: ExecWish): void {
  if (command !== undefined) throw sandboxErrors.SESSION_BUSY({ session: id });
  const rule = deniedBy(wish.command ?? '');
  if (rule !== undefined) throw sandboxErrors.COMMAND_DENIED({ rule });
}

async function exec(parts: Parts, session: Session, wish: ExecWish, sink: OutputSink): Promise<Executed> {
  check(session, wish);
  const command = execute(parts, session, wish, sink);
  session.command = command;
  try {
    return await command;
  } finally {
    Object.assign(session, { running: undefined, command: undefined, isToBeKilled: false, lastUsedAt: Date.now() });
  }
}

async function execute(parts: Parts, session: Session, wish: ExecWish, sink: OutputSink): Promise<Executed> {
  const { sandbox, isNew } = await sandboxOf(session);
  if (wish.resetCwd) session.cwd = session.workspace;
  const running = sandbox.run(programOf(sandbox, session, wish, parts.settings), sink);
  session.running = running;
  if (session.isToBeKilled) running.kill();
  try {
    const end = await running.end;
    session.cwd = end.cwd ?? session.cwd;
    return { ...end, cwd: session.cwd, isWorkspaceNew: isNew };
  } catch (error) {
    const again = hasCode(error, sandboxErrors.SANDBOX_GONE) && !running.hasBegun() && !isNew;
    if (!again) throw error;
    // Its container was gone before the command began.
    return execute(parts, session, wish, sink);
  }
}

function newSession(project: string, runtime: string, kind: Runtime, start: () => Promise<Sandbox>): Session {
  const now = Date.now();
  const workspace = path.posix.join(SANDBOX.workspace, project);
  return {
    id: `session_${randomBytes(4).toString('hex')}`,
    project,
    runtime,
    kind,
    workspace,
    cwd: workspace,
    createdAt: now,
    lastUsedAt: now,
    kept: keepSandbox(start),
    running: undefined,
    command: undefined,
    isToBeKilled: false,
  };
}

function factsOf({ id, project, runtime, workspace, cwd, command, createdAt, lastUsedAt }: Session): SessionFacts {
  return { id, project, runtime, workspace, cwd, busy: command !== undefined, createdAt, lastUsedAt };
}

function wishOf({ id, kind, project }: Session, { uid, limits }: SessionSettings): Parameters<typeof startSandbox>[1] {
  const name = `mahabharatha-${id.replace('_', '-')}`;
  const labels = { 'mahabharatha.project': project };
  return { image: kind.image, name, session: randomId(), role: SESSION_ROLE, uid, limits, labels };
}

function programOf(
  sandbox: Sandbox,
  { kind, workspace, cwd }: Session,
  { command, timeoutMs, env }: ExecWish,
  { uid }: SessionSettings,
): Parameters<Sandbox['run']>[0] {
  const own = { HOME: SANDBOX.home, WORKSPACE: workspace };
  return {
    argv: ['bash', '-c', command ?? defaultCommand(kind)],
    env: { ...sandbox.env, ...own, ...env, BASH_ENV: `${SANDBOX.runtime}/prelude.sh` },
    cwd,
    home: SANDBOX.home,
    uid,
    stdin: null,
    timeoutMs,
    graceMs: GRACE_MS,
    clears: [],
  };
}
