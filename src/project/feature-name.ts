import { projectErrors } from './errors.ts';
import { isPlanningName } from './planning-name.ts';

/** The name of a user's feature. The names of runs of agents that plan are kept for them. */
export function checkFeatureName(feature: string): string {
  if (!isFeatureName(feature) || isPlanningName(feature)) throw projectErrors.FEATURE_NAME_INVALID({ feature });
  return feature;
}

/** The name becomes part of refs and file names; with `.json` at its end it could be the state file of another feature. */
export function isFeatureName(feature: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(feature) && !/\.\.|\.$|\.lock$|\.json$/.test(feature);
}
