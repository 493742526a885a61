import type { KnownAgent } from '../protocol/index.ts';

/** What there is to know of an agent before it is started. */
export interface AgentFacts {
  /** For people. */
  readonly title: string;
  /** On npm. */
  readonly package: string;
  /** Older versions have other options, or print other events. */
  readonly minimum: string;
  /** With which it asks no questions. */
  readonly unattended: string;
  /** How a user gives it an account on this machine. */
  readonly login: string;
}

export const AGENT_FACTS: Readonly<Record<KnownAgent, AgentFacts>> = {
  claude: {
    title: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    minimum: '2.0.0',
    unattended: '--dangerously-skip-permissions',
    login:
      'run "claude" once and log in, or set CLAUDE_CODE_OAUTH_TOKEN (from: claude setup-token) or ANTHROPIC_API_KEY',
  },
  codex: {
    title: 'Codex',
    package: '@openai/codex',
    minimum: '0.120.0',
    unattended: '--dangerously-bypass-approvals-and-sandbox',
    login: 'set OPENAI_API_KEY or CODEX_API_KEY; without containers the login of "codex login" counts, too',
  },
  gemini: {
    title: 'Gemini CLI',
    package: '@google/gemini-cli',
    minimum: '0.40.0',
    unattended: '--approval-mode yolo',
    login: 'set GEMINI_API_KEY; without containers a login of "gemini" counts, too',
  },
  opencode: {
    title: 'OpenCode',
    package: 'opencode-ai',
    minimum: '1.18.3',
    unattended: '--auto',
    login:
      'set the key of a provider, say ANTHROPIC_API_KEY; without containers a login of "opencode auth login" counts, too',
  },
};

/** Pure. The first version number in what a program prints for --version. */
export function versionIn(text: string): string | undefined {
  return /\b\d+\.\d+\.\d+\b/.exec(text)?.[0];
}

/** Pure. Whether a version comes before another one. */
export function isOlder(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => text.split('.').map(Number));
  const at = (one ?? []).findIndex((number, index) => number !== other?.[index]);
  return at >= 0 && (one?.[at] ?? 0) < (other?.[at] ?? 0);
}
