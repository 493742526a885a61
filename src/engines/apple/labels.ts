import type { Labels } from '../engine.ts';

/** The program keeps no time of creation before version 1.0, so each thing that is made has it as a label. */
const CREATED = 'mahabharatha.engine.created';

/** The program cuts a label at every "=", and refuses one with two. */
const encoded = (value: string): string => value.replaceAll('%', '%25').replaceAll('=', '%3D');
const decoded = (value: string): string => value.replaceAll('%3D', '=').replaceAll('%25', '%');

export function labelArguments(labels: Labels): string[] {
  const all = { ...labels, [CREATED]: new Date().toISOString() };
  return Object.entries(all).flatMap(([name, value]) => ['--label', `${name}=${encoded(value)}`]);
}

export function readLabels(raw: Labels): { readonly labels: Labels; readonly createdAt: string } {
  const { [CREATED]: createdAt = '', ...labels } = raw;
  return {
    createdAt,
    labels: Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, decoded(value)])),
  };
}

export const hasLabels = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);
