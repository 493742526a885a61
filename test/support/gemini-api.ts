import { USED } from './provider-server.ts';
import type { Answer, Api } from './provider-server.ts';

/** Enough of Google's API for the Gemini CLI. */
export const GEMINI_API: Api = {
  asks: ({ path }) => path.includes(':streamGenerateContent'),
  stream: (answer) => [
    {
      data: {
        candidates: [{ index: 0, content: { role: 'model', parts: [partOf(answer)] }, finishReason: 'STOP' }],
        usageMetadata: {
          promptTokenCount: USED.input,
          cachedContentTokenCount: USED.cached,
          candidatesTokenCount: USED.output,
          totalTokenCount: USED.input + USED.output,
        },
      },
    },
  ],
};

function partOf(answer: Answer): object {
  if ('text' in answer) return { text: answer.text };
  return { functionCall: { name: answer.call.name, args: answer.call.input } };
}
