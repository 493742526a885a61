import type { Labels } from '../engine.ts';

/** The form that the engine wants for "has all these labels". */
export function labelFilter(labels: Labels): string[] {
  return Object.entries(labels).map(([name, value]) => `${name}=${value}`);
}
