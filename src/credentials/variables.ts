import type { Environment } from '../lib/index.ts';

interface WorkerVariables {
  readonly env: Readonly<Record<string, string>>;
  /** Values that must not be shown. */
  readonly secrets: readonly string[];
  /** Names that were asked for and are not set. */
  readonly missing: readonly string[];
  /** Names that are refused, with the reason; then nothing should start. */
  readonly problems: readonly string[];
}

/**
 * Variables that every worker gets, unless there is a secret in an address: none is a path of this machine, and none leads to
 * a program. The locale is not among them: an image has few locales, and bash and perl warn of an unknown one.
 */
const PASSED =
  /^(TZ|CI|NO_COLOR|FORCE_COLOR|ANTHROPIC_(BASE_URL|MODEL|SMALL_FAST_MODEL|DEFAULT_[A-Z]+_MODEL|BETAS)|GOOGLE_GEMINI_BASE_URL|CLAUDE_CODE_(MAX_OUTPUT_TOKENS|MAX_RETRIES|EFFORT_LEVEL|SUBAGENT_MODEL)|MAX_THINKING_TOKENS|API_TIMEOUT_MS|BASH_(DEFAULT_TIMEOUT_MS|MAX_TIMEOUT_MS|MAX_OUTPUT_LENGTH)|MCP_(TIMEOUT|TOOL_TIMEOUT)|MAX_MCP_OUTPUT_TOKENS|DISABLE_PROMPT_CACHING)$/;

const COMMITTER = /^GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$/;

/** Never given, even when the configuration names it. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [
    /^(PATH|HOME|USER|LOGNAME|SHELL|HOSTNAME|PWD|OLDPWD|SHLVL|_|TMPDIR|TMP|TEMP|XDG_.*|CLAUDE_CONFIG_DIR|IS_SANDBOX|MAHABHARATHA_.*)$/,
    'a container has its own',
  ],
  [
    /^(HTTPS?_PROXY|ALL_PROXY|NO_PROXY|NODE_USE_ENV_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i,
    'the network of a container has its own',
  ],
  [
    /^(LD_.*|DYLD_.*|GCONV_PATH|NODE_OPTIONS|NODE_PATH|BASH_ENV|ENV|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|PROMPT_COMMAND|PS4|IFS|PYTHONSTARTUP|PYTHONHOME|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS)$/,
    'it changes what programs load when they start',
  ],
  [/^GIT_.*$/, 'it could redirect git (only GIT_AUTHOR_* and GIT_COMMITTER_* are allowed)'],
  [
    /^(DOCKER_.*|CONTAINER_HOST|SSH_(AUTH_SOCK|AGENT_PID|ASKPASS)|GPG_AGENT_INFO|DBUS_.*|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY)$/,
    'it leads to a service of this machine',
  ],
];

/** Rather one too many: a value that is wrongly taken for a secret is only hidden in logs. */
const SOUNDS_SECRET = /KEY|TOKEN|SECRET|PASS|PWD|CREDENTIAL|COOKIE|PRIVATE|(^|_)(AUTH|PAT|DSN)(_|$)/i;

/** The variables that workers get: a list of harmless ones, and what the user names under `workers.container.env`. */
export function workerVariables({ env, names }: { env: Environment; names: readonly string[] }): WorkerVariables {
  const listed = listedVariables({ env, names });
  const passed = definedIn(Object.entries(env)).filter(([name]) => PASSED.test(name));
  const harmless = passed.filter(([, value]) => addressSecrets(value).length === 0);
  return { ...listed, env: { ...Object.fromEntries(harmless), ...listed.env } };
}

/** Only what the user names. */
export function listedVariables({ env, names }: { env: Environment; names: readonly string[] }): WorkerVariables {
  const unique = [...new Set(names)];
  const problems = unique.flatMap((name) => {
    const reason = refusalOf(name);
    return reason === undefined ? [] : [`${name} cannot be handed to workers: ${reason}`];
  });
  const allowed = unique.filter((name) => refusalOf(name) === undefined);
  const found = definedIn(allowed.map((name) => [name, env[name]]));
  return {
    env: Object.fromEntries(found),
    secrets: found.flatMap(([name, value]) => (SOUNDS_SECRET.test(name) ? [value] : passwordsIn(value))),
    missing: allowed.filter((name) => env[name] === undefined),
    problems,
  };
}

function definedIn(variables: readonly (readonly [string, string | undefined])[]): (readonly [string, string])[] {
  return variables.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

function refusalOf(name: string): string | undefined {
  return COMMITTER.test(name) ? undefined : REFUSED.find(([pattern]) => pattern.test(name))?.[1];
}

/** User and password in an address such as postgres://user:password@host; a value may be a list of addresses. */
const LOGIN = /(https?)?:\/\/([^/?#\s:@]*)(?::([^/?#\s]*))?@/gi;
/** What GitHub takes as the password of a token. */
const NO_PASSWORD = new Set(['', 'x-oauth-basic']);

/** Passwords as they are written there and decoded. In a web address, a user without a password is a token. */
function passwordsIn(value: string): readonly string[] {
  const found = [...value.matchAll(LOGIN)].flatMap(([, web, user = '', password = '']) =>
    web !== undefined && NO_PASSWORD.has(password) ? [user, password] : [password],
  );
  return found.filter((secret) => secret !== '').flatMap((secret) => [secret, decoded(secret)]);
}

/** Pure. What is secret in the address of a server: a login, and the values of a query. */
export function addressSecrets(address: string): readonly string[] {
  const query = URL.canParse(address) ? [...new URL(address).searchParams.values()] : [];
  return [...passwordsIn(address), ...query].filter((secret) => secret !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
