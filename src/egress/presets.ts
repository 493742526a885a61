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

/** With two letters of three changed, any short word would be like "npm". */
const slipsIn = (name: string): number => Math.min(2, Math.floor(name.length / 2));

/** Pure. The preset that somebody meant who wrote this word, which is none; undefined when it is like none of them. */
export function presetLike(word: string): string | undefined {
  const [nearest] = PRESET_NAMES.map((name) => ({ name, slips: editDistance(word.toLowerCase(), name) }))
    .filter(({ name, slips }) => slips <= slipsIn(name))
    .toSorted((one, other) => one.slips - other.slips);
  return nearest?.name;
}
