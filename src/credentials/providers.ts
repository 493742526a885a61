import type { Environment } from '../lib/index.ts';
import type { KnownAgent } from '../protocol/index.ts';

/** Where a provider's models are, and which variables may have its key: the first that is set counts. */
interface Provider {
  readonly host: string;
  readonly keys: readonly string[];
}

/** By the names that OpenCode gives them in "provider/model". */
const PROVIDERS = {
  anthropic: { host: 'api.anthropic.com', keys: ['ANTHROPIC_API_KEY'] },
  openai: { host: 'api.openai.com', keys: ['OPENAI_API_KEY'] },
  google: { host: 'generativelanguage.googleapis.com', keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'] },
  opencode: { host: 'opencode.ai', keys: ['OPENCODE_API_KEY'] },
  openrouter: { host: 'openrouter.ai', keys: ['OPENROUTER_API_KEY'] },
  groq: { host: 'api.groq.com', keys: ['GROQ_API_KEY'] },
  mistral: { host: 'api.mistral.ai', keys: ['MISTRAL_API_KEY'] },
  deepseek: { host: 'api.deepseek.com', keys: ['DEEPSEEK_API_KEY'] },
  xai: { host: 'api.x.ai', keys: ['XAI_API_KEY'] },
} as const satisfies Readonly<Record<string, Provider>>;

/** What an agent asks a model with. */
export interface ModelWay {
  readonly host: string;
  /** Variables that may have the key, the first that is set counts; the agent gets it under the name `as`. */
  readonly keys: readonly string[];
  readonly as: string;
  /** Names another server in place of the host; null: the agent has no such variable. */
  readonly address: string | null;
}

const CLAUDE: ModelWay = { host: PROVIDERS.anthropic.host, keys: [], as: '', address: 'ANTHROPIC_BASE_URL' };
const CODEX: ModelWay = {
  host: PROVIDERS.openai.host,
  keys: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
  as: 'CODEX_API_KEY',
  address: null,
};
const GEMINI: ModelWay = {
  host: PROVIDERS.google.host,
  keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  as: 'GEMINI_API_KEY',
  address: 'GOOGLE_GEMINI_BASE_URL',
};

/** An agent, and the models that its tasks ask for; null: its default. */
export interface AskedAgent {
  readonly kind: KnownAgent;
  readonly models: readonly (string | null)[];
}

/**
 * Pure. On which ways an agent reaches its models. OpenCode asks the provider that its model names; without a model it
 * chooses one itself, and then it gets the first provider that has a key here.
 */
export function modelWays({ kind, models }: AskedAgent, env: Environment): readonly ModelWay[] {
  switch (kind) {
    case 'claude':
      return [CLAUDE];
    case 'codex':
      return [CODEX];
    case 'gemini':
      return [GEMINI];
    case 'opencode': {
      const named = models.map((model) => (model === null ? firstWithKey(env) : providerOf(model)));
      return [...new Set(named)].flatMap((name) => (name === undefined ? [] : [wayTo(PROVIDERS[name])]));
    }
  }
}

type ProviderName = keyof typeof PROVIDERS;
const NAMES = Object.keys(PROVIDERS) as readonly ProviderName[];

/** Undefined for a provider that is not known here: its host and its key are for the user to name. */
function providerOf(model: string): ProviderName | undefined {
  return NAMES.find((name) => model.startsWith(`${name}/`));
}

function firstWithKey(env: Environment): ProviderName | undefined {
  return NAMES.find((name) => keyIn(PROVIDERS[name].keys, env) !== undefined);
}

const wayTo = ({ host, keys }: Provider): ModelWay => ({ host, keys, as: keys[0] ?? '', address: null });

/** Pure. The name of the first of these variables that has a value. */
export function keyIn(names: readonly string[], env: Environment): string | undefined {
  return names.find((name) => (env[name]?.trim() ?? '') !== '');
}
