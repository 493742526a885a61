import { gitErrors } from '../../git/errors.ts';
import { blobText, bringIn } from '../../git/index.ts';
import type { BroughtIn } from '../../git/index.ts';
import { line, printableJson } from '../../lib/index.ts';
import type { RunState } from '../../state/index.ts';
import { textOf } from '../command.ts';
import { projectErrors } from '../../project/errors.ts';
import { changedParts, checkAtRest, isPackageFile, noRun, openProject, steeringChanges } from '../../project/index.ts';
import type { Project, SteeringChange } from '../../project/index.ts';
import type { CliContext, CommandInput } from '../command.ts';

const SHOWN_FILES = 30;
/** Of so many packages it is read what has changed in them; the others are told of as not read. */
const READ_PACKAGES = 50;
const PACKAGE_BYTES = 1024 * 1024;

/** `merge`: the one command that moves a branch of the user's. */
export async function mergeFeature(input: CommandInput, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await project.feature(textOf(input['feature']));
  const state = await finishedState(project, feature, input['partial'] === true);
  const into = await targetBranch(project, textOf(input['into']));
  const done = Object.values(state.tasks).filter((task) => task.merged).length;
  const result = await bringIn(project.repository, {
    from: state.integration,
    into,
    message: `Merge feature ${feature}\n\n${done} of ${Object.keys(state.tasks).length} tasks.\n\nMahabharatha-Run: ${state.runId}\n`,
    dryRun: input['dryRun'] === true,
    env: context.env,
  });
  const steering = await steeringOf(project, result);
  if (input['json'] === true) {
    const told = { type: 'merge', feature, from: state.integration, into, ...result, steering };
    context.out(line`${printableJson(told)}\n`);
    return 0;
  }
  context.out(line`${inWords(result.kind, feature, into, result.commit)}\n`);
  showFiles(result.files, steering, context);
  if (result.kind === 'merged') context.out(line`Clean up with: mahabharatha cleanup --feature ${feature}\n`);
  return 0;
}

/** What steers tools and later runs is never cut: a branch with many files must not hide the one that matters. */
function showFiles(
  files: readonly string[],
  steering: readonly SteeringChange[],
  { out }: Pick<CliContext, 'out'>,
): void {
  if (steering.length > 0) out(line`Look at these first: tools, or later runs, obey them.\n`);
  for (const { file, what } of steering) out(line`  ${file}  (${what})\n`);
  const listed = new Set(steering.map(({ file }) => file));
  const others = files.filter((file) => !listed.has(file));
  if (steering.length > 0 && others.length > 0) out(line`Beside them:\n`);
  for (const file of others.slice(0, SHOWN_FILES)) out(line`  ${file}\n`);
  if (others.length > SHOWN_FILES) out(line`  … and ${others.length - SHOWN_FILES} more\n`);
}

async function steeringOf({ repository }: Project, { files, before, commit }: BroughtIn): Promise<SteeringChange[]> {
  const packages = new Map<string, string>();
  for (const file of files.filter(isPackageFile).slice(0, READ_PACKAGES)) {
    const [old, now] = await Promise.all(
      [before, commit].map((at) => blobText(repository.git, { commit: at, file, maxBytes: PACKAGE_BYTES })),
    );
    packages.set(file, changedParts(old, now));
  }
  return steeringChanges(files, packages);
}

async function finishedState(project: Project, feature: string, partial: boolean): Promise<RunState> {
  const store = project.store(feature);
  const state = await store.read();
  if (state === undefined) throw await noRun(project, feature);
  await checkAtRest(store, feature);
  if (state.status !== 'complete' && !partial) {
    throw projectErrors.MERGE_NOT_READY({
      feature,
      status: state.status === 'running' ? 'broken off' : state.status,
    });
  }
  return state;
}

async function targetBranch(project: Project, named: string | undefined): Promise<string> {
  const branch = named ?? (await project.repository.currentBranch());
  if (branch === undefined)
    throw projectErrors.MERGE_TARGET_UNCLEAR({ reason: 'no branch is checked out (detached HEAD)' });
  if ((await project.repository.readRef(`refs/heads/${branch}`)) === undefined)
    throw gitErrors.REF_UNKNOWN({ ref: branch });
  return branch;
}

function inWords(kind: 'merged' | 'already-in' | 'would-merge', feature: string, into: string, commit: string): string {
  switch (kind) {
    case 'already-in':
      return `${into} already has everything of "${feature}".`;
    case 'would-merge':
      return `"${feature}" merges into ${into} without conflict. These files would change:`;
    case 'merged':
      return `Merged "${feature}" into ${into}, now at ${commit.slice(0, 10)}. These files changed:`;
  }
}
