import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { mergedFeatures } from '../git/index.ts';
import type { Repository } from '../git/index.ts';
import { featuresWithState } from '../state/index.ts';
import type { ProjectPaths, StateStore } from '../state/index.ts';
import { decideFeature } from './decide-feature.ts';
import type { FeatureUse, KnownFeature } from './decide-feature.ts';
import { projectErrors } from './errors.ts';
import { checkFeatureName, isFeatureName } from './feature-name.ts';
import { GRAPH_NAMES } from './graph-text.ts';
import { isPlanningName } from './planning-name.ts';

/** The feature that a command is about. */
export interface ChosenFeature {
  readonly feature: string;
  /** Why it is meant, when it was not named and there are others; else null. */
  readonly because: string | null;
}

interface Place {
  readonly paths: ProjectPaths;
  readonly repository: Repository;
  store(feature: string): StateStore;
}

/** Throws FEATURE_UNKNOWN, FEATURE_AMBIGUOUS, NO_RUN and FEATURE_NAME_INVALID. */
export async function chooseFeature(place: Place, name: string | undefined, use: FeatureUse): Promise<ChosenFeature> {
  if (name !== undefined) return { feature: await namedFeature(place, name), because: null };
  const { own, links } = await namesIn(place);
  const valid = own.filter(isFeatureName);
  // An invalid name, or a link, is chosen only where nothing else is meant, so that its refusal is what the user reads.
  const meant = [valid, own, links].find((names) => names.length > 0) ?? [];
  const [only, ...others] = meant;
  if (only === undefined) throw projectErrors.FEATURE_UNKNOWN({ feature: '', known: [] });
  if (others.length === 0) return { feature: checkFeatureName(only), because: null };
  const merged = use === 'start' ? await mergedFeatures(place.repository) : new Map<string, string>();
  const known = meant.map(async (feature) => ({ ...(await lookAt(place, feature)), isMerged: merged.has(feature) }));
  const decision = decideFeature(await Promise.all(known), use);
  if ('withoutRun' in decision) throw projectErrors.NO_RUN({ features: decision.withoutRun });
  if ('ambiguous' in decision) throw projectErrors.FEATURE_AMBIGUOUS({ features: decision.ambiguous });
  return { ...decision, feature: checkFeatureName(decision.feature) };
}

async function namedFeature(place: Place, name: string): Promise<string> {
  if (!isFeatureName(name)) throw projectErrors.FEATURE_NAME_INVALID({ feature: name });
  const { all, own, links } = await namesIn(place);
  if ([...all, ...links].includes(name)) return name;
  throw projectErrors.FEATURE_UNKNOWN({ feature: name, known: own });
}

interface Names {
  /** With the runs of agents that plan. */
  readonly all: readonly string[];
  /** Of the user's features. */
  readonly own: readonly string[];
  /** Links where the folder of a feature could be. */
  readonly links: readonly string[];
}

/** Where specs and state were removed, say by git clean -x, the branches still name the features. */
export async function namesIn({ paths, repository }: Pick<Place, 'paths' | 'repository'>): Promise<Names> {
  const [{ folders, links }, run, branched] = await Promise.all([
    inSpecs(paths),
    featuresWithState(paths),
    branchedFeatures(repository),
  ]);
  const all = [...new Set([...folders, ...run, ...branched])].toSorted();
  return { all, own: all.filter((feature) => !isPlanningName(feature)), links };
}

async function branchedFeatures({ listRefs }: Repository): Promise<string[]> {
  const refs = await listRefs('refs/heads/mahabharatha');
  return refs.flatMap(({ ref }) => /^refs\/heads\/mahabharatha\/([^/]+)\/integration$/.exec(ref)?.[1] ?? []);
}

/** What could be the folder of a feature. */
export async function inSpecs({ specs }: ProjectPaths): Promise<{ folders: string[]; links: string[] }> {
  const entries = await readdir(specs, { withFileTypes: true }).catch(() => []);
  const named = (those: typeof entries): string[] => those.map(({ name }) => name).toSorted();
  return {
    folders: named(entries.filter((entry) => entry.isDirectory())),
    links: named(entries.filter((entry) => entry.isSymbolicLink() && isFeatureName(entry.name))),
  };
}

async function lookAt({ paths, store }: Place, name: string): Promise<Omit<KnownFeature, 'isMerged'>> {
  const at = (names: readonly string[]): Promise<(number | undefined)[]> =>
    Promise.all(names.map((file) => changedAt(path.join(paths.specs, name, file))));
  const [run, holder, graphs, requirements] = await Promise.all([
    changedAt(paths.feature(name).state),
    store(name).holder(),
    at(GRAPH_NAMES),
    at(['requirements.md']),
  ]);
  const isComplete = run !== undefined && (await isCompleteRun(store(name)));
  return {
    name,
    isLive: holder !== undefined,
    run: run === undefined ? undefined : { at: run, isComplete },
    hasGraph: graphs.some((time) => time !== undefined),
    changedAt: Math.max(0, ...[...graphs, ...requirements].map((time) => time ?? 0)),
  };
}

/** A damaged state is no complete one: the command that gets it says what is wrong. */
async function isCompleteRun(store: StateStore): Promise<boolean> {
  const state = await store.read().catch(() => undefined);
  return state?.status === 'complete';
}

/** Links are not followed: they could lead to any file. */
async function changedAt(file: string): Promise<number | undefined> {
  return lstat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}
