import path from 'node:path';
import { isInOwnFolder } from '../tasks/index.ts';

/** A changed file that tools or later runs obey. */
export interface SteeringChange {
  readonly file: string;
  readonly what: string;
}

/** Names of files and of folders, at any depth, in small letters; "*" stands for any characters of a name. */
interface Kind {
  readonly what: string;
  readonly names: string;
}

/** In the order in which they are shown: the ones that take effect first. */
const KINDS: readonly Kind[] = [
  {
    what: 'git hooks',
    names:
      '.husky .githooks .git-hooks .lefthook .lefthook-local lefthook*.yml lefthook*.yaml lefthook*.toml lefthook*.json .lefthook*.yml .lefthook*.yaml .lefthook*.toml .lefthook*.json ' +
      '.pre-commit-config.yaml .pre-commit-hooks.yaml .overcommit.yml .lintstagedrc* lint-staged.config.* .simple-git-hooks.*',
  },
  { what: 'what git does with files', names: '.gitattributes .gitmodules .gitconfig .lfsconfig' },
  {
    what: 'environment of a shell',
    names: '.envrc .direnv .mise.toml mise.toml .mise .tool-versions .autoenv .autoenv.zsh',
  },
  {
    what: 'tasks and settings of editors',
    names:
      '.vscode .idea .run .devcontainer .devcontainer.json .zed .fleet .helix .nvim.lua .nvimrc .exrc .vimrc .dir-locals*.el *.code-workspace *.sublime-project',
  },
  {
    what: 'orders to agents',
    names:
      '.claude claude.md claude.local.md .mcp.json agents.md agents.override.md .agents .codex gemini.md .gemini .cursor .cursorrules .cursorignore .windsurf ' +
      '.windsurfrules .clinerules .roo .roorules .continue .aider* .opencode opencode.json opencode.jsonc .junie copilot-instructions.md',
  },
  {
    what: 'settings of a package manager',
    names:
      '.npmrc .yarnrc .yarnrc.yml .yarn .pnp.* .pnpmfile.* pnpm-workspace.yaml package.yaml package.json5 bunfig.toml .cargo pip.conf .bundle .mvn',
  },
  {
    what: 'CI',
    names:
      '.github .gitlab .gitlab-ci*.yml .circleci .ci jenkinsfile* .jenkins .buildkite .travis.yml .drone.yml .woodpecker .woodpecker.yml .gitea .forgejo ' +
      '.teamcity azure-pipelines*.yml .azure-pipelines bitbucket-pipelines.yml appveyor.yml .appveyor.yml .cirrus.yml cloudbuild.yaml .semaphore',
  },
  {
    what: 'programs of linters, builds and debuggers, which editors start',
    names:
      'eslint.config.* .eslintrc* prettier.config.* .prettierrc* stylelint.config.* .stylelintrc* build.rs *.gradle *.gradle.kts gradlew* conftest.py ' +
      '.rprofile .gdbinit .lldbinit',
  },
  {
    what: 'commands by name',
    names:
      'makefile gnumakefile *.mk justfile .justfile taskfile.y*ml rakefile deno.json deno.jsonc composer.json docker-compose*.y*ml compose*.y*ml',
  },
];

const OWN = 'settings and tasks of later runs';
const PACKAGES = 'package scripts';
const EMBEDDED = 'a git repository of its own, which git in that folder obeys';
const NOT_READ = 'could not be read';
/** npm, yarn and pnpm run these at an installation. */
const AT_INSTALL = /^(pre|post)?(install|prepare|prepublish)$|^dependencies$/;
/** Keys of a package.json that make no tool run or fetch anything. */
const HARMLESS = new Set(
  'name version description keywords author contributors license homepage repository bugs funding private'.split(' '),
);

const PATTERNS = KINDS.map(({ what, names }) => ({ what, names: names.split(' ').map(patternOf) }));
const ORDER = [OWN, 'git hooks', EMBEDDED, PACKAGES, ...KINDS.map(({ what }) => what)];

function patternOf(name: string): RegExp {
  const text = name.replaceAll(/[.+()[\]{}^$|\\]/g, String.raw`\$&`).replaceAll('*', '.*');
  return new RegExp(`^${text}$`, 's');
}

/** Pure. `packages`: what has changed in each package.json, as `changedParts` says it. */
export function steeringChanges(files: readonly string[], packages: ReadonlyMap<string, string>): SteeringChange[] {
  const embedded = embeddedFiles(files);
  const found = files.flatMap((file) => {
    const kind = kindOf(file) ?? (embedded.has(file) ? EMBEDDED : undefined);
    const parts = kind === PACKAGES ? (packages.get(file) ?? NOT_READ) : undefined;
    if (kind === undefined || parts === '') return [];
    return [{ file, kind, what: parts === undefined ? kind : `${kind}: ${parts}` }];
  });
  const sorted = found.toSorted((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind));
  return sorted.map(({ file, what }) => ({ file, what }));
}

function kindOf(file: string): string | undefined {
  if (isInOwnFolder(file)) return OWN;
  const names = file.toLowerCase().split('/');
  if (isPackageFile(file)) return PACKAGES;
  return PATTERNS.find(({ names: patterns }) => patterns.some((pattern) => names.some((name) => pattern.test(name))))
    ?.what;
}

/** A folder with HEAD, objects and refs is a repository: git that is started there runs what its config names. */
function embeddedFiles(files: readonly string[]): ReadonlySet<string> {
  const names = files.map((file) => ({ file, ...path.posix.parse(file) }));
  const folders = new Set([
    ...names.flatMap(({ dir }) => aboveObjectsAndRefs(dir)),
    // The other two may have been there before.
    ...names.flatMap(({ dir, base }) => (base === 'HEAD' ? [dir] : [])),
  ]);
  const steer = names.filter(({ dir, base }) => folders.has(dir) && /^(head|config)$/i.test(base));
  return new Set(steer.map(({ file }) => file));
}

function aboveObjectsAndRefs(folder: string): string[] {
  const names = folder.split('/');
  return names.flatMap((name, at) => (/^(objects|refs)$/i.test(name) ? [names.slice(0, at).join('/')] : []));
}

export function isPackageFile(file: string): boolean {
  return /(^|\/)package\.json$/i.test(file);
}

/** Pure. The changes of a package.json that make tools run or fetch something, in words; empty without any. */
export function changedParts(before: string | null | undefined, after: string | null | undefined): string {
  const [old, now] = [objectOf(before), objectOf(after)];
  if (old === undefined || now === undefined) return NOT_READ;
  const scripts = changedKeys(objectIn(old['scripts']), objectIn(now['scripts']));
  const others = changedKeys(old, now).filter((key) => key !== 'scripts' && !HARMLESS.has(key));
  const atInstall = scripts.filter((name) => AT_INSTALL.test(name));
  const called = scripts.filter((name) => !AT_INSTALL.test(name));
  const lists = [
    ['at install', atInstall],
    ['by name', called],
    ['also', others],
  ] as const;
  return lists.flatMap(([what, names]) => (names.length === 0 ? [] : [`${what} ${names.join(', ')}`])).join('; ');
}

type Json = Readonly<Record<string, unknown>>;

function changedKeys(before: Json, after: Json): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
}

function objectIn(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

/** Undefined text: there is no such file. Null: it could not be read. */
function objectOf(text: string | null | undefined): Json | undefined {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
