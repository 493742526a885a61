import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../config/index.ts';
import { detectStacks } from './detect-stack.ts';
import { firstConfig } from './first-config.ts';

const found = (files: readonly string[], packageJson?: object | string) => ({
  files: new Set(files),
  packageJson: typeof packageJson === 'object' ? JSON.stringify(packageJson) : packageJson,
});
const read = (text: string) => parseConfig('config.yaml', text);
const configOf = (...given: Parameters<typeof found>) => firstConfig(detectStacks(found(...given)));

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
