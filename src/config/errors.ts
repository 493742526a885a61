import { defineErrors } from '../lib/app-error.ts';
import { bullets, counted } from '../lib/text/words.ts';

export const configErrors = defineErrors({
  CONFIG_INVALID: {
    kind: 'usage',
    example: { file: 'config.yaml', problems: ['agent: too short', 'gates: not a list'] },
    message: (f) => `${f.file} has ${counted(f.problems.length, 'problem')}:${bullets(f.problems)}`,
    hint: (f) =>
      f.file.endsWith('settings.yaml')
        ? 'Correct the lines above; docs/containers.md has an example (mahabharatha --help says where docs/ is).'
        : 'Correct the lines above; every key is described in .mahabharatha/schemas/config.schema.json, which mahabharatha init writes.',
  },
});
