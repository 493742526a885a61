import path from 'node:path';
import { libErrors, makeFolder, readIfThere, reasonOf, writeFileAtomic } from '../lib/index.ts';
import { approvalOf, approved, parseRequirements } from '../planning/index.ts';
import type { Approval } from '../planning/index.ts';
import { planningErrors } from '../planning/errors.ts';
import { checkFeatureName } from './feature-name.ts';
import { specPlace } from './project.ts';
import type { Project } from './project.ts';

/** The requirements of a feature as they stand in their file. */
export interface RequirementsFile extends Approval {
  readonly feature: string;
  readonly file: string;
  readonly text: string;
  /** What keeps them from being approved. */
  readonly problems: readonly string[];
  readonly requirements: ReturnType<typeof parseRequirements>['requirements'];
}

export const requirementsPlace = (project: Project, feature: string): Promise<string> =>
  specPlace(project, checkFeatureName(feature), 'requirements.md');

/** Undefined when there are none. */
export async function findRequirements(project: Project, feature: string): Promise<RequirementsFile | undefined> {
  const file = await requirementsPlace(project, feature);
  const text = await textIn(file);
  return text === undefined ? undefined : asFile(feature, file, text);
}

/** The text of the design of a feature; empty when there is none. */
export async function readDesign(project: Project, feature: string): Promise<string> {
  const file = await specPlace(project, checkFeatureName(feature), 'design.md');
  return (await textIn(file)) ?? '';
}

/** Undefined when there is no such file. */
async function textIn(file: string): Promise<string | undefined> {
  const bytes = await readIfThere(file).catch((error: unknown) => {
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  });
  return bytes?.toString('utf8');
}

export function asFile(feature: string, file: string, text: string): RequirementsFile {
  const { problems, requirements } = parseRequirements(text);
  return { feature, file, text, problems, requirements, ...approvalOf(text) };
}

/** Throws REQUIREMENTS_MISSING. */
export async function readRequirements(project: Project, feature: string): Promise<RequirementsFile> {
  const found = await findRequirements(project, feature);
  if (found !== undefined) return found;
  throw planningErrors.REQUIREMENTS_MISSING({ feature, file: await requirementsPlace(project, feature) });
}

/** Approves them in the user's name. Throws REQUIREMENTS_MISSING and REQUIREMENTS_INCOMPLETE. */
export async function approveRequirements(project: Project, feature: string, at: Date): Promise<RequirementsFile> {
  const { file, text, problems, standing } = await readRequirements(project, feature);
  if (problems.length > 0) throw planningErrors.REQUIREMENTS_INCOMPLETE({ feature, file, problems });
  if (standing === 'approved') return asFile(feature, file, text);
  const after = approved(text, { by: await project.repository.author(), at });
  await writeSpec(file, after);
  return asFile(feature, file, after);
}

export async function writeSpec(file: string, text: string): Promise<void> {
  await makeFolder(path.dirname(file));
  await writeFileAtomic(file, text, { durable: true });
}

/** A new document takes its place when there is none; otherwise it is put beside, for the user to decide. */
export interface Written {
  readonly file: string;
  /** Where it is instead, when `file` was there already and says something else. */
  readonly proposed: string | null;
  /** It says what was there before. */
  readonly isUnchanged: boolean;
}

export async function writeOrPropose(file: string, text: string): Promise<Written> {
  const before = await textIn(file);
  if (before === text) return { file, proposed: null, isUnchanged: true };
  if (before === undefined) {
    await writeSpec(file, text);
    return { file, proposed: null, isUnchanged: false };
  }
  const proposed = proposalFor(file);
  await writeSpec(proposed, text);
  return { file, proposed, isUnchanged: false };
}

/** Where a new text waits for a person who takes it. */
export function proposalFor(file: string): string {
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}.proposed${ext}`);
}
