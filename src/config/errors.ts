import { defineErrors } from '../lib/app-error.ts';
import { bullets, counted } from '../lib/text/words.ts';

export const configErrors = defineErrors({
  CONFIG_INVALID: {
    kind: 'usage',
    example: { file: 'config.yaml', problems: ['agent: too short', 'gates: not a list'] },
    message: (f) => `${f.file} has ${counted(f.problems.length, 'problem')}:${bullets(f.problems)}`,
    hint: () =>
      'Correct the lines above; every key is described in schemas/ of the package (config.schema.json, settings.schema.json).',
  },
});
