import { engineErrors } from '../errors.ts';
import { LACKS } from '../lacks.ts';
import type { Lack } from '../lacks.ts';

export interface Version {
  readonly text: string;
  /** From 1.0 on it drops rights and limits files and processes. */
  readonly confines: boolean;
}

/** Reads "container CLI version 1.2.2 (build: release, commit: 0e2d8bc)". What cannot be read is refused. */
export function readVersion(text: string): Version {
  const [found, major] = /\b(\d+)\.\d+(?:\.\d+)?\b/.exec(text) ?? [];
  if (found === undefined)
    throw engineErrors.ENGINE_FAILED({ call: 'tell its version', reason: 'its answer names none that can be read' });
  return { text: found, confines: Number(major) >= 1 };
}

export function lacksOf({ confines }: Version): readonly Lack[] {
  const all = Object.keys(LACKS) as Lack[];
  return confines ? all.filter((lack) => lack !== 'dropped-rights') : all;
}
