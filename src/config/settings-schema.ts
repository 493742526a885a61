import { z } from 'zod';

const folder = z
  .string()
  .regex(/^(\/|~\/|~$)/, 'expected an absolute path, or one that begins with "~/"')
  .describe('A folder of this machine, with all that is below it.');

/** The user's own settings, in the home folder: what no repository may decide. */
export const settingsSchema = z.strictObject({
  $schema: z.string().optional(),
  engine: z
    .enum(['apple', 'docker'])
    .optional()
    .describe(
      'The container engine: Apple\'s "container", or Docker. Without it: the one of DOCKER_HOST; on a Mac with Apple silicon Apple\'s, where it is installed and running; Docker.',
    ),
  mounts: z
    .strictObject({
      allow: z
        .array(
          z.union(
            [folder, z.strictObject({ folder, writable: z.boolean().default(false) })],
            'expected a folder ("~/datasets"), or { folder: ~/scratch, writable: true }',
          ),
        )
        .default([])
        .describe('Folders that a repository may mount into the containers of its workers; read-only unless said.')
        .transform((entries) =>
          entries.map((entry) => (typeof entry === 'string' ? { folder: entry, writable: false } : entry)),
        ),
    })
    .prefault({}),
});

export type Settings = z.infer<typeof settingsSchema>;

/** @public used by scripts/generate.js */
export function settingsJsonSchema(): unknown {
  return z.toJSONSchema(settingsSchema, { io: 'input', target: 'draft-2020-12' });
}
