import type { Parts } from '../../src/images/parts.ts';

/** Of a worker image of which a test only says what is different. */
export const IMAGE_PARTS: Parts = {
  version: '1.2.3',
  program: 'p',
  recipe: 'r',
  claude: '2.1.197',
  codex: '',
  gemini: '',
  opencode: '',
  bun: '',
  base: 'node:24',
  baseId: 'sha256:aaa',
  certificates: '',
  platform: '',
};
