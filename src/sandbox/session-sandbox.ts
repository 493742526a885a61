import { LABEL } from '../containers/index.ts';
import { randomId } from '../lib/index.ts';
import { cacheProblem, checkCache, mountsOf, watchCache } from './measure-cache.ts';
import type { Labels } from '../engines/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';
import { explained, missingRuntime } from './fetch-image.ts';
import type { Session, SessionParts } from './session.ts';
import { wasGoneBefore } from './kept-sandbox.ts';
import { startSandbox } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';
import { workspaceFiles } from './workspace.ts';
import type { WorkspaceFiles } from './workspace.ts';

/** On a container of a session. */
const SESSION_ROLE = 'session';

/** The sandbox of a session; a new one, with nothing in its workspace, when the last one has ended. */
export async function sandboxOf(session: Session): Promise<{ readonly sandbox: Sandbox; readonly isNew: boolean }> {
  const got = await session.kept.get();
  if (got.isNew) Object.assign(session, { cwd: session.workspace, isWorkspaceNew: true, setUpFrom: undefined });
  return got;
}

/** A spare when there is one for it, and otherwise a new sandbox. */
export async function startFor(parts: SessionParts, session: Session): Promise<Sandbox> {
  const { network, cache } = session;
  const spare = network === null && cache === null ? await givenOut(parts, session) : undefined;
  if (spare !== undefined) return spare;
  const sandbox = await startOwn(parts, session);
  if (cache === null || (await cacheProblem(sandbox, session, parts.settings)) === undefined) return sandbox;
  await sandbox.close();
  await cache.empty();
  return startOwn(parts, session);
}

async function startOwn({ home, settings }: SessionParts, session: Session): Promise<Sandbox> {
  const sandbox = await startSandbox(home, wishOf(nameOf(session), session, { home, settings })).catch(
    (error: unknown) => {
      throw explained(error, missingRuntime(session.runtime, session.kind));
    },
  );
  await makeWorkspace(sandbox, session);
  return sandbox;
}

/** A spare becomes the sandbox of a session. One that has just ended is left out. */
async function givenOut({ home, warm }: SessionParts, session: Session): Promise<Sandbox | undefined> {
  const spare = warm.take(session.runtime);
  if (spare === undefined) return undefined;
  try {
    const named = home.engine.renameContainer(spare.containerId, nameOf(session));
    await Promise.all([named, makeWorkspace(spare, session)]);
    return spare;
  } catch {
    await spare.close();
    return undefined;
  }
}

export function startSpare({ home, settings }: Omit<SessionParts, 'warm'>, runtime: string): Promise<Sandbox> {
  const kind = settings.runtimes[runtime];
  if (kind === undefined) throw new Error(`no runtime ${runtime}`);
  const name = `mahabharatha-session-spare-${randomId()}`;
  const spare = { kind, network: null, cache: null, workspace: SANDBOX.workspace };
  return startSandbox(home, wishOf(name, spare, { home, settings }));
}

export type FileWork<Result> = (files: WorkspaceFiles) => Promise<Result>;

export async function withFiles<Result>(
  parts: SessionParts,
  session: Session,
  work: FileWork<Result>,
): Promise<Result> {
  const { sandbox, isNew } = await sandboxOf(session);
  try {
    return await work(filesOf(parts, session, sandbox));
  } catch (error) {
    if (!wasGoneBefore(error, isNew) || !parts.open.has(session.id)) throw error;
    return withFiles(parts, session, work);
  }
}

/** Uploads may go into the cache. */
function filesOf({ settings }: SessionParts, session: Session, sandbox: Sandbox): WorkspaceFiles {
  const files = workspaceFiles(sandbox, session.workspace);
  const upload: WorkspaceFiles['upload'] = async (changes) => {
    checkCache(session, settings);
    try {
      return await files.upload(changes);
    } finally {
      watchCache(sandbox, session, settings);
    }
  };
  return { ...files, upload };
}

/** The workspace's own folder is made by the user that owns it. Throws SANDBOX_NOT_READY. */
async function makeWorkspace(sandbox: Sandbox, { workspace, kind }: Session): Promise<void> {
  const answer = await sandbox.files({ op: 'make-root', uid: sandbox.uid, root: workspace });
  if ('error' in answer) throw sandboxErrors.SANDBOX_NOT_READY({ image: kind.image, reason: answer.error.message });
}

const nameOf = ({ id }: Session): string => `mahabharatha-${id.replace('_', '-')}`;

function wishOf(
  name: string,
  { kind, network, cache, workspace }: Pick<Session, 'kind' | 'network' | 'cache' | 'workspace'>,
  { home, settings: { limits } }: Pick<SessionParts, 'home' | 'settings'>,
): Parameters<typeof startSandbox>[1] {
  const uid = cache?.uid ?? home.users.nextSession();
  const wayOut = network?.wayOut ?? null;
  const labels: Labels = cache === null ? {} : { [LABEL.sessionCache]: cache.id };
  const own = { role: SESSION_ROLE, uid, limits, labels, wayOut };
  return {
    image: kind.image,
    name,
    session: randomId(),
    ...own,
    cache: cache && { workspace, volumes: mountsOf(workspace, cache) },
  };
}
