import { digestOf } from '../lib/index.ts';

const SUFFIX = '.planning';
const LONGEST = 64 - SUFFIX.length;

/** Pure. The name of the run of an agent that plans: no feature of a user can have it. */
export function planningName(feature: string): string {
  const short = feature.length <= LONGEST ? feature : `${feature.slice(0, 38)}-${digestOf(feature).slice(0, 16)}`;
  return `${short}${SUFFIX}`;
}

/** Pure. File systems may take "X.Planning" and "x.planning" for the same. */
export const isPlanningName = (name: string): boolean => name.toLowerCase().endsWith(SUFFIX);
