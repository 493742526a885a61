/** The feature that `init` writes to be tried: it is meant only where it is named, or where no other one can be. */
export const EXAMPLE_FEATURE = 'example';

/** What a command does with its feature: shows or steers its run, starts a run, merges one, or removes one. */
export type FeatureUse = 'see' | 'start' | 'merge' | 'remove';

/** What the choice of a feature depends on. Times are in milliseconds since 1970. */
export interface KnownFeature {
  readonly name: string;
  readonly isLive: boolean;
  /** Undefined when it has no run. */
  readonly run: { readonly at: number; readonly isComplete: boolean } | undefined;
  readonly hasGraph: boolean;
  /** Another branch has work of it; looked for only where a run is started. */
  readonly isMerged: boolean;
  /** When its documents were changed last. */
  readonly changedAt: number;
}

export type FeatureDecision =
  | { readonly feature: string; readonly because: string | null }
  | { readonly ambiguous: readonly string[] }
  /** The command needs a run, and none of these has one. */
  | { readonly withoutRun: readonly string[] };

/** A checkout writes all files at once, and two runs may end together: then none of them is the newest. */
const TOGETHER_MS = 2000;

/** Pure. Which feature a command means that names none; `because` is null when there is only one. */
export function decideFeature(known: readonly KnownFeature[], use: FeatureUse): FeatureDecision {
  const [only, ...others] = known;
  if (only !== undefined && others.length === 0) return { feature: only.name, because: null };
  switch (use) {
    case 'see':
      return decideLive(known) ?? decideRun(known) ?? decideChanged(known);
    case 'start':
      return decideLive(known) ?? decideStart(known);
    case 'merge':
      return decideOnlyRun(known, withoutExample);
    case 'remove':
      return decideOnlyRun(known, (runs) => runs);
  }
}

function decideLive(known: readonly KnownFeature[]): FeatureDecision | undefined {
  const live = known.filter(({ isLive }) => isLive);
  const [only, ...others] = live;
  if (only === undefined) return undefined;
  return others.length === 0 ? { feature: only.name, because: 'it runs now' } : ambiguous(live);
}

function decideRun(known: readonly KnownFeature[]): FeatureDecision | undefined {
  const words = { only: ' with a run', newest: 'its run is the newest' };
  return newest(known.filter(hasRun), ({ run }) => run?.at ?? 0, words);
}

function decideChanged(known: readonly KnownFeature[]): FeatureDecision {
  return newest(known, lastChange, { only: '', newest: 'it was changed last' }) ?? ambiguous(known);
}

/** A run that can go on comes first: to start another one could be a mistake that costs money. */
function decideStart(known: readonly KnownFeature[]): FeatureDecision {
  const open = decideRun(known.filter(({ run }) => run?.isComplete === false));
  if (open !== undefined) return open;
  const fresh = withoutExample(known).filter((feature) => !hasRun(feature) && !feature.isMerged);
  const ready = fresh.filter(({ hasGraph }) => hasGraph);
  const words = { only: ' without a run', newest: 'it has no run and was changed last' };
  return newest(ready.length > 0 ? ready : fresh, lastChange, words) ?? decideRun(known) ?? decideChanged(known);
}

/** What changes a branch of the user, or removes work, follows no time. */
function decideOnlyRun(
  known: readonly KnownFeature[],
  among: (runs: readonly KnownFeature[]) => readonly KnownFeature[],
): FeatureDecision {
  const runs = known.filter(hasRun);
  const candidates = among(runs);
  if (candidates.length === 0) return { withoutRun: known.map(({ name }) => name) };
  return (candidates.length === 1 ? decideRun(runs) : undefined) ?? ambiguous(candidates);
}

/** Of the features beside the example. Undefined when there is none at all. */
function newest(
  features: readonly KnownFeature[],
  timeOf: (feature: KnownFeature) => number,
  words: { readonly only: string; readonly newest: string },
): FeatureDecision | undefined {
  const candidates = withoutExample(features);
  const [first, second] = candidates.toSorted((one, other) => timeOf(other) - timeOf(one));
  if (first === undefined) return undefined;
  if (second === undefined) {
    const beside = candidates.length < features.length ? ' beside the example' : '';
    return { feature: first.name, because: `it is the only one${words.only}${beside}` };
  }
  if (timeOf(first) - timeOf(second) < TOGETHER_MS) return ambiguous(candidates);
  return { feature: first.name, because: words.newest };
}

const hasRun = ({ run }: KnownFeature): boolean => run !== undefined;
const lastChange = ({ changedAt }: KnownFeature): number => changedAt;

function withoutExample(features: readonly KnownFeature[]): readonly KnownFeature[] {
  const others = features.filter(({ name }) => name !== EXAMPLE_FEATURE);
  return others.length > 0 ? others : features;
}

const ambiguous = (features: readonly KnownFeature[]): FeatureDecision => ({
  ambiguous: features.map(({ name }) => name),
});
