import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLineSplitter, removeTree } from '../../lib/index.ts';
import type { ImageBuild } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import { createBuildLines } from './build-lines.ts';
import { refusal } from './cli.ts';
import type { Cli } from './cli.ts';
import { isStopped } from './complaints.ts';

/** The program reads a folder: it is made for the build, and removed after it. */
export async function buildImage(cli: Cli, plan: ImageBuild, onLine: (line: string) => void): Promise<void> {
  plan.signal?.throwIfAborted();
  const folder = await mkdtemp(path.join(tmpdir(), 'mahabharatha-build-'));
  try {
    await writeContext(folder, plan.files);
    const lines = createBuildLines(onLine);
    const splitter = createLineSplitter(lines.take);
    const what = `build image ${plan.tag}`;
    const { buildArgs, withheld } = withoutLogins(plan.buildArgs);
    if (withheld.length > 0)
      onLine(`the name and password in ${withheld.join(' and ')} are not given to the build: ${WHY_WITHHELD}`);
    const args = toArguments({ ...plan, buildArgs }, folder);
    const answer = await cli.ask({ what, args, takes: 'long', signal: plan.signal, onText: splitter.push });
    splitter.end();
    if (answer.code === 0) return;
    if (isStopped(answer.stderr)) throw refusal({ what }, answer, cli.place);
    const { reason, last } = lines.failure(answer);
    throw engineErrors.IMAGE_BUILD_FAILED({ image: plan.tag, reason, output: last });
  } finally {
    await removeTree(folder);
  }
}

async function writeContext(folder: string, files: ImageBuild['files']): Promise<void> {
  for (const { path: name, content, mode } of files) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
    // The mode of a new file is cut by the umask.
    await chmod(file, mode);
  }
}

const WHY_WITHHELD = 'all users of this machine see the arguments of a program';
/** The scheme, and all that stands before the host. */
const LOGIN = /^([a-z][a-z0-9+.-]*:\/\/)?.*@/i;

function withoutLogins(buildArgs: ImageBuild['buildArgs']) {
  const withheld = Object.keys(buildArgs).filter((name) => /_proxy$/i.test(name) && LOGIN.test(buildArgs[name] ?? ''));
  const plain = withheld.map((name) => [name, (buildArgs[name] ?? '').replace(LOGIN, '$1')] as const);
  return { buildArgs: { ...buildArgs, ...Object.fromEntries(plain) }, withheld };
}

function toArguments({ tag, dockerfile, labels, buildArgs, platform, noCache }: ImageBuild, folder: string): string[] {
  return [
    'build',
    '--progress',
    'plain',
    '--tag',
    tag,
    '--file',
    path.join(folder, dockerfile),
    ...pairs('--label', labels),
    ...pairs('--build-arg', buildArgs),
    ...(platform === null ? [] : ['--platform', platform]),
    ...(noCache ? ['--no-cache'] : []),
    folder,
  ];
}

const pairs = (option: string, values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => [option, `${name}=${value}`]);
