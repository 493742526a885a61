import { z } from 'zod';

const noNull = z.string().regex(/^[^\0]*$/);
const milliseconds = z.number().int().min(-1).optional();
const bytes = z.number().int().min(-1).optional();

/** Of a file or folder: Linux has no longer ones. */
const isName = (part: string): boolean => part !== '.' && part !== '..' && Buffer.byteLength(part) <= 200;

const file = z.object({
  name: z
    .string()
    .regex(/^[^\0/]+(\/[^\0/]+)*$/)
    .refine((name) => name.split('/').every(isName), 'expected a path below the folder of the program')
    .optional(),
  content: z.string(),
  encoding: z.enum(['utf8', 'base64', 'hex']).optional(),
});

/** Named as by Piston, version 2 of its interface. */
export const pistonRequest = z.object({
  language: z.string().max(64),
  version: z.string().max(64).describe('Or a selector: "3.x", "*".'),
  files: z.array(file).min(1).max(100).describe('The first is the program.'),
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
