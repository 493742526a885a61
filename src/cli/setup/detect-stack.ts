/** What is known of a repository from the names of its files. */
export interface Found {
  /** At its top. */
  readonly files: ReadonlySet<string>;
  /** The text of package.json; undefined when there is none. */
  readonly packageJson: string | undefined;
  /** Programs that workers have: in their image, or on this machine. */
  readonly programs: ReadonlySet<string>;
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
  /** It works as it stands: a lock file says what to install, and workers have the programs. */
  readonly isSure: boolean;
}

/** Lock files of Node's package managers; the first that is there counts. */
const NODE_SETUPS: readonly (readonly [lock: string, setup: string, program: string])[] = [
  ['package-lock.json', 'npm ci', 'npm'],
  ['npm-shrinkwrap.json', 'npm ci', 'npm'],
  ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile', 'pnpm'],
  ['yarn.lock', 'yarn install --frozen-lockfile', 'yarn'],
  ['bun.lock', 'bun install --frozen-lockfile', 'bun'],
  ['bun.lockb', 'bun install --frozen-lockfile', 'bun'],
];
/** Scripts that say whether the work is good, cheapest first. */
const NODE_GATES = ['typecheck', 'type-check', 'check-types', 'lint', 'build', 'test'];
/** What `npm init` writes. */
const NO_TESTS = /no test specified/;
/** Test runners that wait for changes, unless CI says that nobody makes any. */
const WATCHES = /--watch\b|\b(react-scripts|ng) test\b/;
const FROM_GITHUB = /^(github:|git(\+\w+)?:\/\/(\w+@)?github\.com|[\w-]+\/[\w.-]+(#|$))/;

interface Kind extends Omit<Stack, 'isSure' | 'setup'> {
  /** It is such a repository when one of these is there. */
  readonly files: readonly string[];
  readonly setup?: string;
  /** What says which versions to install, or needs no such file. */
  readonly locks: readonly string[];
  readonly programs: readonly string[];
  /** Its gates find something only where one of these is there; undefined: in any case. */
  readonly tests?: readonly string[];
}

const PYTESTS = ['tests', 'test', 'pytest.ini', 'conftest.py', 'tox.ini'];
const VENV = 'python3 -m venv .venv && .venv/bin/pip install';

const KINDS: readonly Kind[] = [
  {
    name: 'Python (uv)',
    files: ['uv.lock'],
    setup: 'uv sync --frozen',
    locks: ['uv.lock'],
    programs: ['uv'],
    gates: [{ name: 'test', command: 'uv run pytest -q' }],
    tests: PYTESTS,
    allow: ['pypi'],
  },
  {
    name: 'Python (Poetry)',
    files: ['poetry.lock'],
    setup: 'poetry install --no-interaction',
    locks: ['poetry.lock'],
    programs: ['poetry'],
    gates: [{ name: 'test', command: 'poetry run pytest -q' }],
    tests: PYTESTS,
    allow: ['pypi'],
  },
  {
    name: 'Python',
    files: ['requirements.txt'],
    setup: `${VENV} -r requirements.txt`,
    locks: ['requirements.txt'],
    programs: ['python3'],
    // Whether pytest is among the requirements is not known.
    gates: [{ name: 'test', command: '.venv/bin/python -m pytest -q' }],
    tests: ['pytest.ini', 'conftest.py'],
    allow: ['pypi'],
  },
  {
    name: 'Python',
    files: ['pyproject.toml'],
    setup: `${VENV} -e .`,
    locks: [],
    programs: ['python3'],
    gates: [{ name: 'test', command: '.venv/bin/python -m pytest -q' }],
    tests: PYTESTS,
    allow: ['pypi'],
  },
  {
    name: 'Go',
    files: ['go.mod'],
    setup: 'go mod download',
    locks: ['go.mod'],
    programs: ['go'],
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
    locks: ['Cargo.lock'],
    programs: ['cargo'],
    gates: [{ name: 'test', command: 'cargo test --locked' }],
    allow: ['index.crates.io', 'static.crates.io'],
  },
  {
    name: 'Java (Maven)',
    files: ['pom.xml'],
    locks: ['pom.xml'],
    programs: ['mvn'],
    gates: [{ name: 'test', command: 'mvn -q -B verify' }],
    allow: ['repo.maven.apache.org'],
  },
  {
    name: 'Java (Gradle)',
    files: ['build.gradle', 'build.gradle.kts'],
    locks: ['gradlew'],
    programs: ['java'],
    gates: [{ name: 'test', command: './gradlew --no-daemon check' }],
    allow: ['services.gradle.org', 'plugins.gradle.org', 'repo.maven.apache.org'],
  },
  {
    name: 'Ruby',
    files: ['Gemfile'],
    setup: 'bundle install',
    locks: ['Gemfile.lock'],
    programs: ['bundle'],
    gates: [{ name: 'test', command: 'bundle exec rake' }],
    tests: ['Rakefile'],
    allow: ['rubygems.org', 'index.rubygems.org'],
  },
  {
    name: 'PHP',
    files: ['composer.json'],
    setup: 'composer install --no-interaction',
    locks: ['composer.lock'],
    programs: ['composer', 'php'],
    gates: [{ name: 'test', command: 'vendor/bin/phpunit' }],
    tests: ['phpunit.xml', 'phpunit.xml.dist'],
    allow: ['repo.packagist.org', 'github'],
  },
];

/** All that a set-up or a gate may need: to be looked for. */
export const PROGRAMS: readonly string[] = [
  ...new Set([...NODE_SETUPS.map(([, , program]) => program), ...KINDS.flatMap(({ programs }) => programs)]),
];
/** Of those, what the worker image has. */
export const IN_IMAGE: ReadonlySet<string> = new Set(['npm']);

/** Pure. What the repository is made with, the surest first. */
export function detectStacks(found: Found): readonly Stack[] {
  const { files, packageJson } = found;
  const there = KINDS.filter((kind) => kind.files.some((file) => files.has(file)));
  // A project of uv or Poetry has a pyproject.toml as well.
  const [python] = there.filter(({ name }) => name.startsWith('Python'));
  const others = there.filter((kind) => kind === python || !kind.name.startsWith('Python'));
  const node = packageJson === undefined ? [] : [nodeStack(found, packageJson)];
  return [...node, ...others.map((kind) => otherStack(kind, found))];
}

function otherStack({ name, setup, locks, programs, gates, tests, allow }: Kind, found: Found): Stack {
  const has = (names: readonly string[]): boolean => names.some((file) => found.files.has(file));
  const isSure = has(locks) && programs.every((program) => found.programs.has(program));
  return { name, setup, gates: tests === undefined || has(tests) ? gates : [], allow, isSure };
}

function nodeStack({ files, programs }: Found, packageJson: string): Stack {
  const [lock, setup, program = 'npm'] = NODE_SETUPS.find(([file]) => files.has(file)) ?? [];
  const { scripts, dependencies, devDependencies } = packageOf(packageJson);
  const gates = NODE_GATES.flatMap((name) => {
    const script = scripts[name];
    if (script === undefined || NO_TESTS.test(script)) return [];
    return [{ name, command: `${WATCHES.test(script) ? 'CI=true ' : ''}${program} run ${name}` }];
  });
  const sources = Object.values({ ...dependencies, ...devDependencies });
  const allow = sources.some((source) => FROM_GITHUB.test(source)) ? ['github'] : [];
  return { name: 'Node', setup, gates, allow, isSure: lock !== undefined && programs.has(program) };
}

type Texts = Readonly<Record<string, string>>;

function packageOf(text: string): { scripts: Texts; dependencies: Texts; devDependencies: Texts } {
  const value = parsed(text);
  const [scripts, dependencies, devDependencies] = ['scripts', 'dependencies', 'devDependencies'].map((key) =>
    textsIn(typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined),
  ) as [Texts, Texts, Texts];
  return { scripts, dependencies, devDependencies };
}

function textsIn(value: unknown): Texts {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
