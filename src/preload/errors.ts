import { defineErrors } from '../lib/app-error.ts';

export const preloadErrors = defineErrors({
  PRELOAD_BUSY: {
    kind: 'usage',
    example: { waiting: 64 },
    message: (f) => `${f.waiting} programs wait already for their turn.`,
    hint: () => 'Wait for the end of some of them.',
  },
});
