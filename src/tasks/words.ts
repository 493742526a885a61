import { place as placeIn } from '../lib/text/shape.ts';

/** Longest list of findings of one kind: a broken generator could make millions of them. */
export const MANY = 100;

export const place = (path: readonly PropertyKey[]): string => placeIn(path, 'task graph');
