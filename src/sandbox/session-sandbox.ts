import { hasCode, randomId } from '../lib/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';
import { explained, missingRuntime } from './fetch-image.ts';
import type { Session, SessionParts, SessionSettings } from './session.ts';
import { startSandbox } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';
import { workspaceFiles } from './workspace.ts';
import type { WorkspaceFiles } from './workspace.ts';

/** On a container of a session. */
const SESSION_ROLE = 'session';
const MAKE_FOLDER_MS = 30_000;

/** The sandbox of a session; a new one, with nothing in its workspace, when the last one has ended. */
export async function sandboxOf(session: Session): Promise<{ readonly sandbox: Sandbox; readonly isNew: boolean }> {
  const got = await session.kept.get();
  if (got.isNew) Object.assign(session, { cwd: session.workspace, isWorkspaceNew: true, setUpFrom: undefined });
  return got;
}

export async function startFor({ home, settings }: SessionParts, session: Session): Promise<Sandbox> {
  const sandbox = await startSandbox(home, wishOf(session, settings)).catch((error: unknown) => {
    throw explained(error, missingRuntime(session.runtime, session.kind));
  });
  await makeWorkspace(sandbox, session.workspace, settings.uid);
  return sandbox;
}

export type FileWork<Result> = (files: WorkspaceFiles) => Promise<Result>;

export async function withFiles<Result>(
  parts: SessionParts,
  session: Session,
  work: FileWork<Result>,
): Promise<Result> {
  const { sandbox, isNew } = await sandboxOf(session);
  try {
    return await work(workspaceFiles(sandbox, session.workspace, parts.settings.uid));
  } catch (error) {
    const again = hasCode(error, sandboxErrors.SANDBOX_GONE) && !isNew && parts.open.has(session.id);
    if (!again) throw error;
    // Its container was gone before, and no one had noticed.
    return withFiles(parts, session, work);
  }
}

/** The workspace's own folder is made by the user that owns it. */
async function makeWorkspace(sandbox: Sandbox, workspace: string, uid: number): Promise<void> {
  const argv = ['mkdir', '-p', '--', workspace] as const;
  const mkdir = {
    argv,
    env: sandbox.env,
    cwd: '/',
    home: SANDBOX.home,
    uid,
    stdin: null,
    timeoutMs: MAKE_FOLDER_MS,
    graceMs: 0,
    clears: [],
  };
  await sandbox.run(mkdir, () => undefined).end;
}

function wishOf(
  { id, kind, project, network }: Session,
  { uid, limits }: SessionSettings,
): Parameters<typeof startSandbox>[1] {
  const name = `mahabharatha-${id.replace('_', '-')}`;
  const labels = { 'mahabharatha.project': project };
  return {
    image: kind.image,
    name,
    session: randomId(),
    role: SESSION_ROLE,
    uid,
    limits,
    labels,
    wayOut: network?.wayOut ?? null,
  };
}
