import { editDistance } from './edit-distance.ts';

/** Lists with a name. "npm" is not here: its hosts are those of the user's own npm configuration. */
export const PRESETS: ReadonlyMap<string, readonly string[]> = new Map([
  // The API alone: its token is handed in, so nothing signs in; updates, statistics and error reports are not needed.
  ['anthropic', ['api.anthropic.com']],
  ['pypi', ['pypi.org', 'files.pythonhosted.org']],
  ['github', ['github.com', 'api.github.com', 'codeload.github.com', '*.githubusercontent.com']],
]);

export const NPM_PRESET = 'npm';

export const PRESET_NAMES: readonly string[] = [...PRESETS.keys(), NPM_PRESET].toSorted();

/** Two slips make one short name of another: "gitlab" of "github". */
const slipsIn = (name: string): number => (name.length > 6 ? 2 : 1);

const sorted = (word: string): string => Array.from(word).toSorted().join('');

/** Pure. The preset that somebody meant who wrote this word, which is none; undefined when it is like none of them. */
export function presetLike(word: string): string | undefined {
  const text = word.toLowerCase();
  return PRESET_NAMES.find((name) => sorted(text) === sorted(name) || editDistance(text, name) <= slipsIn(name));
}
