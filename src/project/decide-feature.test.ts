import { describe, expect, it } from 'vitest';
import { decideFeature } from './decide-feature.ts';
import type { FeatureUse, KnownFeature } from './decide-feature.ts';

const MINUTE = 60_000;

const feature = (name: string, rest: Partial<KnownFeature> = {}): KnownFeature => ({
  name,
  isLive: false,
  run: undefined,
  hasGraph: true,
  isMerged: false,
  changedAt: 0,
  ...rest,
});
const complete = (name: string, at = 0): KnownFeature => feature(name, { run: { at, isComplete: true } });
const open = (name: string, at = 0): KnownFeature => feature(name, { run: { at, isComplete: false } });
const live = (name: string): KnownFeature => ({ ...open(name), isLive: true });
const example = feature('example', { changedAt: 99 * MINUTE });
const exampleRun = complete('example', 99 * MINUTE);

const USES: readonly FeatureUse[] = ['see', 'start', 'merge', 'remove'];

/** The feature and why; or those among which none is meant. */
function said(known: readonly KnownFeature[], use: FeatureUse): string {
  const decision = decideFeature(known, use);
  if ('withoutRun' in decision) return `no run of ${decision.withoutRun.join(', ')}`;
  if ('ambiguous' in decision) return `which of ${decision.ambiguous.join(', ')}?`;
  return decision.because === null ? decision.feature : `${decision.feature}: ${decision.because}`;
}

describe('a feature that was not named', () => {
  it.each(USES)('is the only one there is, to %s', (use) => {
    for (const only of [feature('login'), live('login'), example, exampleRun])
      expect(said([only], use)).toBe(only.name);
  });

  it.each<[string, FeatureUse, KnownFeature[], string]>([
    ['the live one', 'see', [complete('login', MINUTE), live('search'), example], 'search: it runs now'],
    ['the live one', 'start', [feature('login'), live('search')], 'search: it runs now'],
    ['the live one, also the example', 'see', [complete('login'), { ...live('example') }], 'example: it runs now'],
    ['none of two live ones', 'see', [live('login'), live('search'), open('old')], 'which of login, search?'],
    ['the one with a run', 'see', [feature('login'), open('search'), example], 'search: it is the only one with a run'],
    [
      'the one with a run, and not the example',
      'see',
      [complete('login'), exampleRun],
      'login: it is the only one with a run beside the example',
    ],
    [
      'the example that has the only run',
      'see',
      [feature('login'), exampleRun],
      'example: it is the only one with a run',
    ],
    ['the newest run', 'see', [open('login', MINUTE), complete('search', 2 * MINUTE)], 'search: its run is the newest'],
    ['neither of two runs that ended together', 'see', [open('a', 1), open('b', 2)], 'which of a, b?'],
    ['the one beside the example', 'see', [feature('login'), example], 'login: it is the only one beside the example'],
    [
      'the one that was changed last',
      'see',
      [feature('login'), feature('search', { changedAt: MINUTE }), example],
      'search: it was changed last',
    ],
    ['none of those that came with one checkout', 'see', [feature('a'), feature('b'), example], 'which of a, b?'],
  ])('is %s, to %s', (_, use, known, words) => {
    expect(said(known, use)).toBe(words);
  });

  it.each<[string, KnownFeature[], string]>([
    ['whose run can go on', [open('login'), feature('search')], 'login: it is the only one with a run'],
    ['without a run', [complete('login'), feature('search')], 'search: it is the only one without a run'],
    [
      'with a graph',
      [feature('login', { hasGraph: false, changedAt: MINUTE }), feature('search')],
      'search: it is the only one without a run',
    ],
    [
      'that was changed last',
      [complete('old'), feature('login', { changedAt: MINUTE }), feature('search'), example],
      'login: it has no run and was changed last',
    ],
    ['with the newest run when all have one', [complete('a'), complete('b', MINUTE)], 'b: its run is the newest'],
    ['beside the example, though it has a run', [complete('login'), example], 'login: it is the only one with a run'],
    [
      'that was not merged already',
      [feature('login', { isMerged: true, changedAt: MINUTE }), feature('search'), example],
      'search: it is the only one without a run',
    ],
    [
      'that was merged, to be refused, when there is no other one',
      [feature('login', { isMerged: true }), example],
      'login: it is the only one beside the example',
    ],
    [
      'that is no plan yet',
      [feature('login', { hasGraph: false }), example],
      'login: it is the only one without a run',
    ],
  ])('is, for a start, the one %s', (_, known, words) => {
    expect(said(known, 'start')).toBe(words);
  });

  it.each<[string, KnownFeature[], string, string]>([
    ['the only run', [complete('login'), feature('search')], 'login: it is the only one with a run', 'the same'],
    ['no newest run', [complete('a'), complete('b', MINUTE)], 'which of a, b?', 'the same'],
    ['no live run beside another', [complete('a'), live('b')], 'which of a, b?', 'the same'],
    ['none when there is no run', [feature('a'), feature('b', { changedAt: MINUTE })], 'no run of a, b', 'the same'],
    [
      'not the example',
      [complete('login'), exampleRun],
      'login: it is the only one with a run beside the example',
      'which of login, example?',
    ],
  ])('is, to be merged or removed, %s', (_, known, merged, removed) => {
    expect(said(known, 'merge')).toBe(merged);
    expect(said(known, 'remove')).toBe(removed === 'the same' ? merged : removed);
  });
});
