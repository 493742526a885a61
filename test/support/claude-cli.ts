import { accessSync, constants } from 'node:fs';
import path from 'node:path';

export const HOW_TO_GET_CLAUDE =
  'no Claude Code CLI: npm install -g @anthropic-ai/claude-code, or name one in MAHABHARATHA_TEST_CLAUDE';

/** The real Claude Code CLI, if this machine has one. */
export const findClaude = (): string | undefined => findCli('claude');

/** The real program of an agent: the one that the environment names, or the one on the PATH. */
export function findCli(command: string): string | undefined {
  const named = process.env[`MAHABHARATHA_TEST_${command.toUpperCase()}`];
  if (named !== undefined && named !== '') return named;
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => path.join(folder, command)).find(isExecutable);
}

/** An environment in which the CLI has no account, talks to `baseUrl` only and gives up soon. */
export function claudeEnvironment(home: string, baseUrl: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    CLAUDE_CONFIG_DIR: path.join(home, '.claude'),
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_API_KEY: 'made-up-key',
    CLAUDE_CODE_MAX_RETRIES: '1',
    // As root the CLI refuses to work without permission prompts, unless it is in a sandbox. Here it is in one: a temporary
    // repository, and a model that does only what the test says.
    IS_SANDBOX: '1',
  };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
