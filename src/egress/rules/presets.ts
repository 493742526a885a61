/**
 * Lists with a name. "npm" is not here: its hosts are those of the user's own npm configuration. Nor is "agent": its hosts
 * are those of the agents that a run asks.
 */
export const PRESETS: ReadonlyMap<string, readonly string[]> = new Map([
  // The API alone: its token is handed in, so nothing signs in; updates, statistics and error reports are not needed.
  ['anthropic', ['api.anthropic.com']],
  ['openai', ['api.openai.com']],
  ['google', ['generativelanguage.googleapis.com']],
  ['opencode', ['opencode.ai']],
  ['pypi', ['pypi.org', 'files.pythonhosted.org']],
  ['github', ['github.com', 'api.github.com', 'codeload.github.com', '*.githubusercontent.com']],
]);

export const NPM_PRESET = 'npm';
export const AGENT_PRESET = 'agent';

export const PRESET_NAMES: readonly string[] = [...PRESETS.keys(), NPM_PRESET, AGENT_PRESET].toSorted();
