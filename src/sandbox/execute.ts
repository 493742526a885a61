import { SANDBOX } from '../protocol/index.ts';
import type { SandboxEnd } from '../protocol/index.ts';
import type { OutputSink } from './connection.ts';
import { deniedBy } from './denylist.ts';
import { ENV_FILE_BYTES, parseEnvFile } from './env-file.ts';
import { sandboxErrors } from './errors.ts';
import { wasGoneBefore } from './kept-sandbox.ts';
import { checkCache, noteOnCache, watchCache } from './measure-cache.ts';
import type { Sandbox } from './sandbox.ts';
import { markUsed, tellNew } from './session.ts';
import type { Session, SessionParts } from './session.ts';
import { sandboxOf, withFiles } from './session-sandbox.ts';
import { checkNeeds, noteOnSetUp, setUpSource } from './set-up.ts';

const GRACE_MS = 5000;

/** The longest command that the agent is sent, with its variables. */
const MOST_BYTES = 768 * 1024;

/** What asks for a network fails at once, and not after some minutes. */
const OFFLINE = { npm_config_fetch_retries: '0', PIP_RETRIES: '0' };

export interface ExecWish {
  /** Undefined: the set-up and the default command of the runtime. */
  readonly command: string | undefined;
  readonly timeoutMs: number;
  readonly resetCwd: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** A file of the workspace with more variables. */
  readonly envFile: string | undefined;
}

/** Of a command: how it has ended, and whether its container was a new one, with nothing in its workspace. */
export interface Executed extends SandboxEnd {
  readonly cwd: string;
  readonly isWorkspaceNew: boolean;
}

type Ready = Omit<ExecWish, 'envFile'>;

/** Throws what keeps a command from being run now. What it resolves with has the variables of the file. */
export async function prepare(parts: SessionParts, session: Session, wish: ExecWish): Promise<Ready> {
  checkFree(session);
  checkCache(session, parts.settings);
  if (session.preparing === 0) session.isToBeKilled = false;
  session.preparing += 1;
  try {
    return await checked(parts, session, wish);
  } finally {
    session.preparing -= 1;
  }
}

async function checked(parts: SessionParts, session: Session, wish: ExecWish): Promise<Ready> {
  const rule = deniedBy(wish.command ?? '');
  if (rule !== undefined) throw sandboxErrors.COMMAND_DENIED({ rule });
  if (wish.command === undefined) await withFiles(parts, session, (files) => checkNeeds(session, files));
  const { envFile } = wish;
  if (envFile === undefined) return checkSize(wish);
  const { content, size } = await withFiles(parts, session, (files) => files.read(envFile, 0, ENV_FILE_BYTES));
  if (size > ENV_FILE_BYTES)
    throw sandboxErrors.ENV_FILE_INVALID({ file: envFile, problems: [`it has more than ${ENV_FILE_BYTES} bytes`] });
  return checkSize({ ...wish, env: { ...parseEnvFile(envFile, content), ...wish.env } });
}

/** Throws COMMAND_TOO_LARGE: it would not fit into one frame. Up to there the kernel says what is too long. */
function checkSize(wish: Ready): Ready {
  const { command = '', env } = wish;
  const bytes = Buffer.byteLength(JSON.stringify({ command, env }));
  if (bytes <= MOST_BYTES) return wish;
  throw sandboxErrors.COMMAND_TOO_LARGE({ bytes, limit: MOST_BYTES });
}

function checkFree({ id, command }: Session): void {
  if (command !== undefined) throw sandboxErrors.SESSION_BUSY({ session: id });
}

export async function exec(parts: SessionParts, session: Session, wish: Ready, sink: OutputSink): Promise<Executed> {
  checkFree(session);
  const command = execute(parts, session, wish, sink);
  session.command = command;
  try {
    return await command;
  } finally {
    Object.assign(session, { running: undefined, command: undefined, isToBeKilled: false });
    markUsed(session);
  }
}

async function execute(parts: SessionParts, session: Session, wish: Ready, sink: OutputSink): Promise<Executed> {
  const { command } = wish;
  const end =
    command === undefined
      ? await runDefault(parts, session, wish, sink)
      : await runOne(parts, session, { ...wish, command }, sink);
  return { ...end, cwd: session.cwd, isWorkspaceNew: tellNew(session) };
}

/** The set-up, unless it was done with the same files, and the default command. */
async function runDefault(parts: SessionParts, session: Session, wish: Ready, sink: OutputSink): Promise<SandboxEnd> {
  const { setup, defaultCommand } = session.kind;
  const source = await withFiles(parts, session, (files) => setUpSource(session, files));
  if (setup === null || source === null || (source !== '' && source === session.setUpFrom))
    return runOne(parts, session, { ...wish, command: defaultCommand }, sink);
  const first = await runOne(parts, session, { ...wish, command: setup }, sink);
  if (first.code !== 0 || first.endedBy !== 'itself') {
    await sink('stderr', Buffer.from(noteOnSetUp(session, setup, first)));
    return first;
  }
  session.setUpFrom = source;
  const timeoutMs = Math.max(1, wish.timeoutMs - first.durationMs);
  const second = await runOne(parts, session, { ...wish, timeoutMs, command: defaultCommand }, sink);
  return {
    ...second,
    durationMs: first.durationMs + second.durationMs,
    cpuMs: first.cpuMs + second.cpuMs,
    peakBytes: Math.max(first.peakBytes, second.peakBytes),
    outOfMemory: first.outOfMemory || second.outOfMemory,
  };
}

type Command = Ready & { readonly command: string };

async function runOne(parts: SessionParts, session: Session, wish: Command, sink: OutputSink): Promise<SandboxEnd> {
  const { settings } = parts;
  const { sandbox, isNew } = await sandboxOf(session);
  checkCache(session, settings);
  if (wish.resetCwd) session.cwd = session.workspace;
  const running = sandbox.run(programOf(sandbox, session, wish), sink);
  session.running = running;
  if (session.isToBeKilled) running.kill();
  watchCache(sandbox, session, settings);
  try {
    const end = await running.end;
    const note = noteOnCache(session, settings, end);
    if (note !== undefined) await sink('stderr', Buffer.from(note));
    if (end.problem !== null) await sink('stderr', Buffer.from(`The command was not started: ${end.problem}.\n`));
    session.cwd = end.cwd ?? session.cwd;
    return end;
  } catch (error) {
    if (!wasGoneBefore(error, isNew, running) || !parts.open.has(session.id)) throw error;
    return runOne(parts, session, wish, sink);
  }
}

function programOf(
  sandbox: Sandbox,
  { workspace, cwd, network }: Session,
  { command, timeoutMs, env }: Command,
): Parameters<Sandbox['run']>[0] {
  const own = { HOME: SANDBOX.home, WORKSPACE: workspace, ...(network?.env ?? OFFLINE) };
  return {
    argv: ['bash', '-c', command],
    env: { ...sandbox.env, ...own, ...env, BASH_ENV: `${SANDBOX.runtime}/prelude.sh` },
    cwd,
    home: SANDBOX.home,
    uid: sandbox.uid,
    isShell: true,
    isPrivate: false,
    dataBytes: null,
    stdin: null,
    timeoutMs,
    graceMs: GRACE_MS,
    clears: [],
  };
}
