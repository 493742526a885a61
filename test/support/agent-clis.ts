import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { KnownAgent } from '../../src/protocol/index.ts';

export type OtherAgent = Exclude<KnownAgent, 'claude'>;

export const howToGet = (kind: OtherAgent): string =>
  `no ${kind} on the PATH, and none named in MAHABHARATHA_TEST_${kind.toUpperCase()}`;

/** An environment in which an agent has a made-up key, and a new home; it talks to `url` only. */
export function agentEnvironment(kind: OtherAgent, home: string, url: string): Record<string, string> {
  const own = { PATH: process.env['PATH'] ?? '', HOME: home };
  switch (kind) {
    case 'codex':
      return { ...own, CODEX_API_KEY: 'made-up-key' };
    case 'gemini': {
      // With an address of its own it would want a gateway's login, unless its settings say that there is a key.
      mkdirSync(path.join(home, '.gemini'), { recursive: true });
      const settings = {
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
      };
      writeFileSync(path.join(home, '.gemini/settings.json'), JSON.stringify(settings));
      return { ...own, GEMINI_API_KEY: 'made-up-key', GOOGLE_GEMINI_BASE_URL: url };
    }
    case 'opencode': {
      const config = { provider: { anthropic: { options: { baseURL: `${url}/v1` } } } };
      return { ...own, ANTHROPIC_API_KEY: 'made-up-key', OPENCODE_CONFIG_CONTENT: JSON.stringify(config) };
    }
  }
}

/** Arguments by which it finds the scripted model. */
export const agentArguments = (kind: OtherAgent, url: string): string[] =>
  kind === 'codex' ? ['-c', `openai_base_url="${url}/v1"`] : [];

/** A model that the scripted servers answer for. */
export const MODELS: Readonly<Record<OtherAgent, string | null>> = {
  codex: null,
  gemini: 'gemini-2.5-flash',
  opencode: 'anthropic/claude-sonnet-4-5',
};
