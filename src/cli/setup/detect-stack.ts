/** What is known of a repository from the names of its files. */
export interface Found {
  /** At its top. */
  readonly files: ReadonlySet<string>;
  /** The text of package.json; undefined when there is none. */
  readonly packageJson: string | undefined;
}

export interface Gate {
  readonly name: string;
  readonly command: string;
}

export interface Stack {
  readonly name: string;
  /** Makes a fresh worktree usable; undefined when nothing has to be done. */
  readonly setup: string | undefined;
  readonly gates: readonly Gate[];
  /** Hosts and presets that the set-up needs, beside those that are allowed anyway. */
  readonly allow: readonly string[];
  /** It works as it stands: the image of workers has what it needs. */
  readonly isSure: boolean;
}

/** Lock files of Node's package managers; the first that is there counts. */
const NODE_SETUPS: readonly (readonly [lock: string, setup: string, run: string, inImage: boolean])[] = [
  ['package-lock.json', 'npm ci', 'npm run', true],
  ['npm-shrinkwrap.json', 'npm ci', 'npm run', true],
  ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile', 'pnpm run', false],
  ['yarn.lock', 'yarn install --frozen-lockfile', 'yarn run', false],
  ['bun.lock', 'bun install --frozen-lockfile', 'bun run', false],
  ['bun.lockb', 'bun install --frozen-lockfile', 'bun run', false],
];
/** Scripts that say whether the work is good, cheapest first. */
const NODE_GATES = ['typecheck', 'lint', 'build', 'test'];
/** What `npm init` writes. */
const NO_TESTS = /no test specified/;

const OTHERS: readonly (Omit<Stack, 'isSure'> & { readonly files: readonly string[] })[] = [
  {
    name: 'Python (uv)',
    files: ['uv.lock'],
    setup: 'uv sync --frozen',
    gates: [{ name: 'test', command: 'uv run pytest -q' }],
    allow: ['pypi'],
  },
  {
    name: 'Python',
    files: ['requirements.txt', 'pyproject.toml'],
    setup: 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt',
    gates: [{ name: 'test', command: '.venv/bin/python -m pytest -q' }],
    allow: ['pypi'],
  },
  {
    name: 'Go',
    files: ['go.mod'],
    setup: 'go mod download',
    gates: [
      { name: 'vet', command: 'go vet ./...' },
      { name: 'test', command: 'go test ./...' },
    ],
    allow: ['proxy.golang.org', 'sum.golang.org'],
  },
  {
    name: 'Rust',
    files: ['Cargo.toml'],
    setup: 'cargo fetch --locked',
    gates: [{ name: 'test', command: 'cargo test --locked' }],
    allow: ['index.crates.io', 'static.crates.io'],
  },
  {
    name: 'Java (Maven)',
    files: ['pom.xml'],
    setup: undefined,
    gates: [{ name: 'test', command: 'mvn -q -B verify' }],
    allow: ['repo.maven.apache.org'],
  },
  {
    name: 'Java (Gradle)',
    files: ['build.gradle', 'build.gradle.kts'],
    setup: undefined,
    gates: [{ name: 'test', command: './gradlew --no-daemon check' }],
    allow: ['services.gradle.org', 'plugins.gradle.org', 'repo.maven.apache.org'],
  },
  {
    name: 'Ruby',
    files: ['Gemfile'],
    setup: 'bundle install',
    gates: [{ name: 'test', command: 'bundle exec rake' }],
    allow: ['rubygems.org', 'index.rubygems.org'],
  },
  {
    name: 'PHP',
    files: ['composer.json'],
    setup: 'composer install --no-interaction',
    gates: [{ name: 'test', command: 'vendor/bin/phpunit' }],
    allow: ['repo.packagist.org', 'github'],
  },
];

/** Pure. What the repository is made with, the surest first. */
export function detectStacks({ files, packageJson }: Found): readonly Stack[] {
  const others = OTHERS.filter((stack) => stack.files.some((file) => files.has(file)));
  const node = packageJson === undefined ? [] : [nodeStack(files, packageJson)];
  // A project of uv has a pyproject.toml as well.
  const distinct = others.filter(({ name }) => name !== 'Python' || !files.has('uv.lock'));
  return [...node, ...distinct.map(({ name, setup, gates, allow }) => ({ name, setup, gates, allow, isSure: false }))];
}

function nodeStack(files: ReadonlySet<string>, packageJson: string): Stack {
  const [lock, setup, run = 'npm run', inImage = true] = NODE_SETUPS.find(([file]) => files.has(file)) ?? [];
  const scripts = scriptsIn(packageJson);
  const gates = NODE_GATES.filter((name) => name in scripts && !NO_TESTS.test(scripts[name] ?? ''));
  return {
    name: 'Node',
    setup,
    gates: gates.map((name) => ({ name, command: `${run} ${name}` })),
    allow: [],
    isSure: lock !== undefined && inImage,
  };
}

function scriptsIn(text: string): Readonly<Record<string, string>> {
  try {
    const { scripts = {} } = JSON.parse(text) as { scripts?: Record<string, unknown> };
    const texts = Object.entries(scripts).flatMap(([name, script]) =>
      typeof script === 'string' ? [[name, script]] : [],
    );
    return Object.fromEntries(texts) as Record<string, string>;
  } catch {
    return {};
  }
}
