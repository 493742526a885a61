import path from 'node:path';
import { combine, remoteOf } from '../git/index.ts';
import { asCommand, findProgram, inOneLine, run, writeFileAtomic } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { provePublished } from '../orchestrator/index.ts';
import { formatPullRequest } from '../report/index.ts';
import { gitErrors } from '../git/errors.ts';
import { projectErrors } from './errors.ts';
import { finishedState, mergeMessage, steeringOf, targetBranch } from './merge-run.ts';
import type { MergedRun, MergeWishes } from './merge-run.ts';
import type { Project } from './project.ts';
import { reportRun } from './report-run.ts';
import { findRequirements } from './requirements-file.ts';

const PUSH_MS = 10 * 60_000;
const OPEN_MS = 2 * 60_000;

/** A pull request as it would be opened. */
export interface PullRequest extends Pick<MergedRun, 'from' | 'into' | 'status' | 'files' | 'steering'> {
  readonly kind: 'already-in' | 'would-merge';
  /** Where the integration branch is: what is pushed. */
  readonly tip: string;
  readonly remote: string;
  /** The branch of the remote that takes it. */
  readonly base: string;
  readonly title: string;
  readonly body: string;
  /** Where the body is kept. */
  readonly file: string;
  /** By hand: push, and open. */
  readonly push: readonly string[];
  readonly open: readonly string[];
}

type Wishes = Pick<MergeWishes, 'feature' | 'into' | 'partial' | 'env'>;

/** Looks whether it can be merged, and makes its text. Changes nothing. Throws NO_REMOTE, and what `mergeRun` throws. */
export async function planPullRequest(project: Project, wishes: Wishes): Promise<PullRequest> {
  const { feature, partial, env } = wishes;
  const { repository } = project;
  const state = await finishedState(project, feature, partial);
  await provePublished(project, state);
  const [from, into] = [state.integration, await targetBranch(project, wishes.into)];
  const remote = await remoteOf(repository.git, into);
  if (!('remote' in remote)) throw gitErrors.NO_REMOTE({ branch: into, remotes: remote });
  const tip = await repository.resolve(`refs/heads/${from}`);
  const merged = await combine(repository, { from, into, message: () => mergeMessage(state), squash: false });
  const requirements = (await findRequirements(project, feature))?.requirements ?? [];
  const { title, body } = formatPullRequest(
    { ...(await reportRun(project, feature, env)), integrationTip: tip },
    requirements,
  );
  const file = path.join(project.store(feature).paths.folder, 'pull-request.md');
  const base = remote.branch;
  return {
    kind: merged.kind === 'already-in' ? 'already-in' : 'would-merge',
    from,
    into,
    status: state.status,
    files: merged.files,
    steering: await steeringOf(project, merged),
    tip,
    remote: remote.remote,
    base,
    title,
    body,
    file,
    push: ['git', 'push', remote.remote, `${tip}:refs/heads/${from}`],
    open: ['gh', 'pr', 'create', '--title', title, '--body-file', file, '--base', base, '--head', from],
  };
}

/**
 * Writes the text, pushes the branch, never by force, and lets `gh` open the pull request. Without `gh` nothing is pushed,
 * and the address is null. `say` hears each step before it is done.
 */
export async function openPullRequest(
  project: Project,
  { body, file, push, open, from, remote }: PullRequest,
  { env, say }: { readonly env: Environment; say(step: string): void },
): Promise<string | null> {
  await writeFileAtomic(file, body, { durable: false });
  say(`The text of the pull request is in ${file}`);
  if ((await findProgram('gh', env)) === undefined) return null;
  say(`Pushing ${from} to ${remote}`);
  await project.repository.git.text(push.slice(1), { timeoutMs: PUSH_MS });
  say('Opening the pull request with gh');
  const [program = '', ...args] = open;
  const options = { cwd: project.repository.root, env: { ...env, GH_PROMPT_DISABLED: '1' }, timeoutMs: OPEN_MS };
  const { code, stdout, stderr } = await run(program, args, options);
  if (code === 0) return stdout.trim().split('\n').at(-1) ?? '';
  const reason = `gh ended with ${code === null ? 'a signal' : `exit status ${code}`}: ${inOneLine(stderr)}`;
  throw projectErrors.PULL_REQUEST_FAILED({ reason, file, command: asCommand(open) });
}
