/** Lists with a name. "npm" is not here: its hosts are those of the user's own npm configuration. */
export const PRESETS: ReadonlyMap<string, readonly string[]> = new Map([
  // The API alone: its token is handed in, so nothing signs in; updates, statistics and error reports are not needed.
  ['anthropic', ['api.anthropic.com']],
  ['pypi', ['pypi.org', 'files.pythonhosted.org']],
  ['github', ['github.com', 'api.github.com', 'codeload.github.com', '*.githubusercontent.com']],
]);

export const NPM_PRESET = 'npm';

export const PRESET_NAMES: readonly string[] = [...PRESETS.keys(), NPM_PRESET].toSorted();
