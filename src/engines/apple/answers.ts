import { z } from 'zod';
import { clip, inOneLine, readJson } from '../../lib/index.ts';
import type { ContainerInfo, Labels } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import { readLabels } from './labels.ts';

const LONGEST_QUOTE = 200;

const labels = z.record(z.string(), z.string()).default({});
const digest = z.object({ digest: z.string() });

const Container = z.object({
  configuration: z.object({
    id: z.string(),
    labels,
    image: z.object({ reference: z.string(), descriptor: digest.optional() }).optional(),
  }),
  /** A word before version 1.0, an object since. */
  status: z.union([
    z.string().transform((state) => ({ state })),
    z.object({ state: z.string(), startedDate: z.unknown().optional() }),
  ]),
  startedDate: z.unknown().optional(),
});

export interface FoundContainer extends ContainerInfo {
  readonly image: { readonly reference: string; readonly digest: string } | undefined;
}

export function containersIn(text: string, what: string): FoundContainer[] {
  return understood(z.array(Container), text, what).map(({ configuration, status, startedDate }) => {
    const { id, image } = configuration;
    const began = startedDate ?? ('startedDate' in status ? status.startedDate : undefined);
    return {
      id,
      name: id,
      ...readLabels(configuration.labels),
      status: statusOf(status.state, began !== undefined && began !== null),
      image: image && { reference: image.reference, digest: image.descriptor?.digest ?? '' },
    };
  });
}

function statusOf(state: string, hasBegun: boolean): ContainerInfo['status'] {
  if (state === 'running') return 'running';
  if (state !== 'stopped') return 'other';
  return hasBegun ? 'exited' : 'created';
}

const Volume = z.object({ name: z.string(), labels });
/** Since version 1.0 it is inside a "configuration". */
const Volumes = z.array(z.union([z.object({ configuration: Volume }).transform((one) => one.configuration), Volume]));

export function volumesIn(text: string, what: string): { name: string; labels: Labels; createdAt: string }[] {
  return understood(Volumes, text, what).map(({ name, labels: raw }) => ({ name, ...readLabels(raw) }));
}

const ImageName = z.object({
  id: z.string().optional(),
  name: z.string().optional(),
  reference: z.string().optional(),
  descriptor: digest.optional(),
  index: digest.optional(),
  configuration: z
    .object({ name: z.string().optional(), reference: z.string().optional(), descriptor: digest.optional() })
    .optional(),
});

const Variant = z.object({
  platform: z.object({ os: z.string(), architecture: z.string() }),
  size: z.number(),
  config: z.object({
    created: z.string().optional(),
    config: z
      .object({ User: z.string().optional(), Env: z.array(z.string()).nullish(), Labels: labels.nullable().optional() })
      .optional(),
  }),
});

const Image = ImageName.extend({ variants: z.array(Variant) });

export interface FoundImage {
  readonly id: string;
  readonly name: string;
}

export interface DescribedImage extends FoundImage {
  readonly variants: readonly z.infer<typeof Variant>[];
}

export function imagesIn(text: string, what: string): FoundImage[] {
  return understood(z.array(ImageName), text, what).map(toFound);
}

export function describedImagesIn(text: string, what: string): DescribedImage[] {
  return understood(z.array(Image), text, what).map((image) => ({ ...toFound(image), variants: image.variants }));
}

function toFound({ id, name, reference, descriptor, index, configuration }: z.infer<typeof ImageName>): FoundImage {
  const digests = [descriptor?.digest, index?.digest, configuration?.descriptor?.digest, id];
  const names = [reference, configuration?.name, configuration?.reference, name];
  const found = digests.find((one) => one !== undefined) ?? '';
  return {
    id: /^[0-9a-f]{64}$/.test(found) ? `sha256:${found}` : found,
    name: shortName(names.find((one) => one !== undefined) ?? ''),
  };
}

/** The program adds the usual registry to names without one, and a tag. */
export function shortName(name: string): string {
  const short = name.replace(/^(docker\.io\/library|docker\.io)\//, '');
  return /[:@]/.test(short.slice(short.lastIndexOf('/') + 1)) ? short : `${short}:latest`;
}

function understood<Value>(schema: z.ZodType<Value>, text: string, what: string): Value {
  const value = readJson(schema, text);
  if (value !== undefined) return value;
  const quote = clip(inOneLine(text.trim()), LONGEST_QUOTE);
  throw engineErrors.ENGINE_FAILED({ call: what, reason: `its answer is not understood: ${quote}` });
}
