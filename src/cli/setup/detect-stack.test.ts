import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../config/index.ts';
import { detectStacks, IN_IMAGE } from './detect-stack.ts';
import { firstConfig, foundInWords } from './first-config.ts';

const found = (files: readonly string[], packageJson?: object | string, programs: ReadonlySet<string> = IN_IMAGE) => ({
  files: new Set(files),
  programs,
  packageJson: typeof packageJson === 'object' ? JSON.stringify(packageJson) : packageJson,
});
const read = (text: string) => parseConfig('config.yaml', text);
const configOf = (...given: Parameters<typeof found>) => firstConfig(detectStacks(found(...given)), true);

describe('the stack of a repository', () => {
  it('is Node with the set-up of its lock file, and the scripts that judge the work', () => {
    const scripts = { test: 'vitest', lint: 'eslint .', start: 'node .', build: 'tsc' };
    expect(detectStacks(found(['package.json', 'package-lock.json'], { scripts }))).toEqual([
      {
        name: 'Node',
        setup: 'npm ci',
        gates: [
          { name: 'lint', command: 'npm run lint' },
          { name: 'build', command: 'npm run build' },
          { name: 'test', command: 'npm run test' },
        ],
        allow: [],
        isSure: true,
      },
    ]);
  });

  it.each([
    ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
    ['yarn.lock', 'yarn install --frozen-lockfile'],
    ['bun.lock', 'bun install --frozen-lockfile'],
  ])('with %s is only a proposal, since the image of workers lacks that program', (lock, setup) => {
    expect(detectStacks(found(['package.json', lock], {}))).toMatchObject([{ setup, isSure: false }]);
  });

  it('is sure with any program that workers have, and a lock file', () => {
    const here = new Set(['pnpm', 'uv', 'go', 'cargo']);
    const isSure = (files: readonly string[], text?: object): boolean | undefined =>
      detectStacks(found(files, text, here))[0]?.isSure;
    expect(isSure(['package.json', 'pnpm-lock.yaml'], {})).toBe(true);
    expect(isSure(['uv.lock', 'pyproject.toml'])).toBe(true);
    expect(isSure(['go.mod'])).toBe(true);
    expect(isSure(['Cargo.toml', 'Cargo.lock'])).toBe(true);
    for (const files of [['package.json'], ['Cargo.toml'], ['poetry.lock'], ['Gemfile', 'Gemfile.lock']])
      expect(isSure(files, files[0] === 'package.json' ? {} : undefined)).toBe(false);
  });

  it('has gates of tests only where there are some, and none that waits for changes', () => {
    expect(detectStacks(found(['uv.lock']))).toMatchObject([{ gates: [] }]);
    expect(detectStacks(found(['uv.lock', 'tests']))).toMatchObject([{ gates: [{ command: 'uv run pytest -q' }] }]);
    expect(detectStacks(found(['pyproject.toml']))).toMatchObject([
      { setup: expect.stringMatching(/ install -e \.$/) },
    ]);
    const scripts = { test: 'react-scripts test', lint: 'eslint .' };
    expect(detectStacks(found(['package.json'], { scripts }))[0]?.gates.map(({ command }) => command)).toEqual([
      'npm run lint',
      'CI=true npm run test',
    ]);
  });

  it.each(['github:a/b', 'a/b#v1', 'git+https://github.com/a/b.git', 'git+ssh://git@github.com/a/b'])(
    'allows GitHub where a dependency is %s',
    (source) => {
      expect(detectStacks(found(['package.json'], { dependencies: { x: source } }))).toMatchObject([
        { allow: ['github'] },
      ]);
      expect(detectStacks(found(['package.json'], { devDependencies: { x: '^1.0.0' } }))).toMatchObject([
        { allow: [] },
      ]);
    },
  );

  it.each([
    [{ scripts: { test: 'echo "Error: no test specified" && exit 1' } }],
    [{ scripts: { test: 5 } }],
    [{}],
    ['no JSON'],
  ])('has no gates with %j', (packageJson) => {
    expect(detectStacks(found(['package.json'], packageJson))).toMatchObject([{ gates: [], isSure: false }]);
  });

  it.each([
    [['requirements.txt'], ['Python']],
    [['pyproject.toml', 'uv.lock'], ['Python (uv)']],
    [['go.mod'], ['Go']],
    [['Cargo.toml'], ['Rust']],
    [['pom.xml'], ['Java (Maven)']],
    [['build.gradle.kts'], ['Java (Gradle)']],
    [['Gemfile'], ['Ruby']],
    [['composer.json'], ['PHP']],
    [
      ['go.mod', 'Gemfile'],
      ['Go', 'Ruby'],
    ],
    [['README.md'], []],
  ])('of %j is %j', (files, names) => {
    expect(detectStacks(found(files)).map(({ name }) => name)).toEqual(names);
  });
});

describe('the first configuration', () => {
  it('has set-up and gates where they are sure to work', () => {
    const { workers, gates } = read(configOf(['package.json', 'package-lock.json'], { scripts: { test: 'vitest' } }));
    expect(workers.setup).toBe('npm ci');
    expect(gates).toMatchObject([{ name: 'test', command: 'npm run test' }]);
  });

  it('allows what a sure set-up needs, where workers run in containers: elsewhere it would mean containers', () => {
    const node = found(['package.json', 'package-lock.json'], { dependencies: { x: 'github:a/b' } });
    const [inside, outside] = [true, false].map((inContainers) => read(firstConfig(detectStacks(node), inContainers)));
    expect(inside?.workers).toMatchObject({
      asksForContainers: true,
      container: { allow: ['agent', 'npm', 'github'] },
    });
    expect(outside?.workers).toMatchObject({ setup: 'npm ci', asksForContainers: false });
  });

  it.each([
    [['requirements.txt', 'pytest.ini'], 'python3', '.venv/bin/pip install -r requirements.txt'],
    [['uv.lock', 'tests'], 'uv', 'uv sync --frozen'],
    [['go.mod'], 'go', 'go mod download'],
  ])('obeys the set-up and the gates for %j where workers have %s', (files, program, setup) => {
    const stacks = detectStacks(found(files, undefined, new Set([program])));
    const { workers, gates } = read(firstConfig(stacks, false));
    expect(workers.setup).toContain(setup);
    expect(gates.map(({ command }) => command)).toEqual(stacks[0]?.gates.map(({ command }) => command));
  });

  it.each([[['go.mod']], [['Cargo.toml', 'Gemfile']], [['pyproject.toml']], [[]]])(
    'of %j obeys nothing that may not work there',
    (files) => {
      const text = configOf(files);
      expect(read(text)).toEqual(read(''));
      expect(text).toMatch(/^# yaml-language-server: \$schema=schemas\/config.schema.json\n/);
    },
  );

  it('is valid when all that is proposed is taken', () => {
    const proposal = /^( *)# ((?:setup:|container:|  allow:|gates:|  - name|    command: go|    timeout).*)$/gm;
    const text = configOf(['go.mod']).replaceAll(proposal, '$1$2');
    const { workers, gates } = read(text);
    expect(workers).toMatchObject({
      setup: 'go mod download',
      container: { allow: expect.arrayContaining(['sum.golang.org']) },
    });
    expect(gates).toHaveLength(2);
  });
});

const said = (...given: Parameters<typeof found>) => foundInWords(detectStacks(found(...given)));

describe('the words of init', () => {
  const scripts = { test: 'vitest' };

  it.each([
    [['package.json', 'package-lock.json'], { scripts }, /^Found Node: "setup" and "gates" are written in/],
    [['package.json', 'package-lock.json'], {}, /^Found Node: "setup" is written in/],
    [['package.json', 'pnpm-lock.yaml'], { scripts }, /^Found Node: "setup" and "gates" are only proposed, behind "#"/],
    [['package.json'], { scripts }, /^Found Node: "gates" are only proposed/],
    [['package.json'], {}, /^Found Node: no set-up and no gates/],
    [
      ['package.json', 'package-lock.json', 'go.mod'],
      { scripts },
      /^Found Node, Go: "setup" and "gates" of Node are written /,
    ],
  ])('of %j and %j say what is active in the configuration, and what is behind "#"', (files, json, words) => {
    expect(said(files, json)).toMatch(words);
    const config = read(configOf(files, json));
    expect(config.workers.setup !== undefined || config.gates.length > 0).toBe(/ written /.test(words.source));
  });

  it('are none where nothing was found', () => {
    expect(said([])).toBeUndefined();
  });
});
