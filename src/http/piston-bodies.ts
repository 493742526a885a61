import { z } from 'zod';
import { clip } from '../lib/index.ts';

const noNull = z.string().regex(/^[^\0]*$/);
const milliseconds = z.number().int().min(-1).optional();
const bytes = z.number().int().min(-1).optional();

/** Of a file or folder: Linux has no longer ones. */
const isName = (part: string): boolean => part !== '.' && part !== '..' && Buffer.byteLength(part) <= 200;

/** Node would leave out what it does not understand. */
const CONTENT = { hex: /^([0-9a-fA-F]{2})*$/, base64: /^([A-Za-z0-9+/_-]{4})*([A-Za-z0-9+/_-]{2,3}={0,2})?$/ };

function isContent({ content, encoding = 'utf8' }: { content: string; encoding?: string | undefined }): boolean {
  return (encoding !== 'hex' && encoding !== 'base64') || CONTENT[encoding].test(content.replaceAll(/\s/g, ''));
}

const plainFile = z.object({
  name: z
    .string()
    .regex(/^[^\0/]+(\/[^\0/]+)*$/)
    .refine((name) => name.split('/').every(isName), 'expected a path below the folder of the program')
    .optional(),
  content: z.string(),
  encoding: z.enum(['utf8', 'base64', 'hex']).optional(),
});
const file = plainFile.refine(isContent, { path: ['content'], error: 'is not in the encoding that is named' });

/** What a file without a name is called. */
export const nameOf = ({ name }: { readonly name?: string | undefined }, at: number): string =>
  name ?? `file${at}.code`;

const shown = (name: string): string => JSON.stringify(clip(name, 100));

/** What keeps files from being beside each other; undefined when nothing does. */
function clashOf(files: readonly z.infer<typeof file>[]): string | undefined {
  const names = files.map(nameOf);
  for (const [at, name] of names.entries()) {
    if (names.indexOf(name) !== at) return `two of them have the same name, ${shown(name)}`;
    const below = names.find((other) => other.startsWith(`${name}/`));
    if (below !== undefined) return `${shown(name)} is a file, and so no folder for ${shown(below)}`;
  }
  return undefined;
}

/** Named as by Piston, version 2 of its interface. */
export const pistonRequest = z.object({
  language: z.string().max(64),
  version: z.string().max(64).describe('Or a selector: "3.x", "*".'),
  files: z
    .array(file)
    .min(1)
    .max(100)
    .superRefine((files, { addIssue }) => {
      const message = clashOf(files);
      if (message !== undefined) addIssue({ code: 'custom', message });
    })
    .describe('The first is the program.'),
  stdin: z.string().optional(),
  args: z.array(noNull).max(1000).optional(),
  compile_timeout: milliseconds,
  run_timeout: milliseconds,
  compile_cpu_time: milliseconds,
  run_cpu_time: milliseconds,
  compile_memory_limit: bytes,
  run_memory_limit: bytes,
});

export const pistonRuntimes = z.array(
  z.object({ language: z.string(), version: z.string(), aliases: z.array(z.string()) }),
);

export const pistonAnswer = z.object({
  language: z.string(),
  version: z.string(),
  run: z.object({
    stdout: z.string(),
    stderr: z.string(),
    output: z.string().describe('Both, in the order in which they came.'),
    code: z.number().int().nullable(),
    signal: z.string().nullable(),
    message: z.string().nullable(),
    status: z.enum(['RE', 'SG', 'TO', 'OL', 'EL', 'XX']).nullable(),
    cpu_time: z.number().describe('In milliseconds.'),
    wall_time: z.number().describe('In milliseconds.'),
    memory: z.number().describe('In bytes.'),
  }),
});
