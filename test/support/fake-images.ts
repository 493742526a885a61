import { createHash } from 'node:crypto';
import { engineErrors } from '../../src/engines/errors.ts';
import type { Engine, ImageBuild, ImageInfo, Labels } from '../../src/engines/index.ts';
import { randomId } from '../../src/lib/index.ts';
import { failed } from './fake-container.ts';
import type { FakeContainer } from './fake-container.ts';

/** What fake images need of their machine. */
interface Machine {
  readonly images: Map<string, ImageInfo>;
  readonly containers: ReadonlyMap<string, FakeContainer>;
  readonly builds: Map<string, string>;
}

export const hasLabels = (own: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => own[name] === value);

/** Without names: the machine has them, and adds them when the image is inspected. */
export function imageOf(id: string, labels: Labels): ImageInfo {
  const now = new Date().toISOString();
  const common = { user: '', arch: 'amd64', env: {}, volumes: [], bytes: 1000, tags: [], createdAt: now };
  return { id: `sha256:${id}`, labels, ...common };
}

type ImageParts = Pick<Engine, 'inspectImage' | 'listImages' | 'buildImage' | 'pullImage' | 'tagImage' | 'removeImage'>;

export function imagesOf(machine: Machine): ImageParts {
  return {
    inspectImage: async (name) => findImage(machine, name),
    listImages: async (labels) => {
      const ids = new Set(
        [...machine.images.values()].filter((own) => hasLabels(own.labels, labels)).map(({ id }) => id),
      );
      const found = [...ids].map((id) => findImage(machine, id)).filter((image) => image !== undefined);
      return found.map(({ id, labels: own, bytes, createdAt, tags }) => ({ id, labels: own, bytes, createdAt, tags }));
    },
    buildImage: async (plan, onLine) => build(machine, plan, onLine),
    pullImage: async (name) => {
      throw engineErrors.IMAGE_PULL_FAILED({ image: name, reason: 'a fake engine has no registry' });
    },
    tagImage: async (id, tag) => {
      const image = findImage(machine, id);
      if (image === undefined) throw engineErrors.IMAGE_MISSING({ image: tag });
      machine.images.set(tag, image);
    },
    removeImage: async (tag) => {
      const image = findImage(machine, tag);
      const last = image?.tags.length === 1;
      if (last && isUsed(machine, image)) throw failed(`remove image ${tag}`, 'a container is using it');
      machine.images.delete(tag);
    },
  };
}

/** By its id or one of its names. */
function findImage({ images }: Machine, name: string): ImageInfo | undefined {
  const image = images.get(name) ?? [...images.values()].find(({ id }) => id === name);
  const tags = [...images].filter(([, { id }]) => id === image?.id).map(([tag]) => tag);
  return image === undefined ? undefined : { ...image, tags };
}

function isUsed({ containers }: Machine, { tags }: ImageInfo): boolean {
  return [...containers.values()].some(({ spec }) => tags.includes(spec.image));
}

/** Runs two commands: `RUN echo …` and `RUN exit …`. */
function build(machine: Machine, plan: ImageBuild, onLine: (line: string) => void): string {
  plan.signal?.throwIfAborted();
  const { tag, files, labels, buildArgs } = plan;
  const key = createHash('sha256')
    .update(JSON.stringify([files, labels, buildArgs]))
    .digest('hex');
  const cached = plan.noCache ? undefined : machine.builds.get(key);
  const dockerfile = files.find(({ path }) => path === plan.dockerfile)?.content ?? new Uint8Array();
  const output: string[] = [];
  const print = (line: string): void => {
    output.push(line);
    onLine(line);
  };
  for (const step of Buffer.from(dockerfile).toString('utf8').trim().split('\n')) {
    print(`Step : ${step}`);
    const [, command, words = ''] = /^RUN (echo|exit) (.*)$/.exec(step) ?? [];
    if (command === 'exit') throw engineErrors.IMAGE_BUILD_FAILED({ image: tag, reason: `code: ${words}`, output });
    if (command === 'echo' && cached === undefined) print(words);
  }
  const id = cached ?? randomId();
  machine.builds.set(key, id);
  machine.images.set(tag, imageOf(id, labels));
  return `sha256:${id}`;
}
