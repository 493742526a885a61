import { randomUUID } from 'node:crypto';
import { USED } from './provider-server.ts';
import type { Answer, Api } from './provider-server.ts';

/** Enough of OpenAI's Responses API for Codex. */
export const OPENAI_RESPONSES: Api = {
  asks: ({ path }) => new URL(path, 'http://localhost').pathname.endsWith('/responses'),
  stream: (answer) => {
    const id = `resp_${randomUUID()}`;
    return [
      { type: 'response.created', response: { id } },
      { type: 'response.output_item.done', output_index: 0, item: itemOf(answer) },
      { type: 'response.completed', response: { id, usage: usage() } },
    ].map((data) => ({ event: data.type, data }));
  },
};

function itemOf(answer: Answer): object {
  if ('text' in answer) {
    const content = [{ type: 'output_text', text: answer.text, annotations: [] }];
    return { type: 'message', id: `msg_${randomUUID()}`, role: 'assistant', status: 'completed', content };
  }
  const { name, input } = answer.call;
  return {
    type: 'function_call',
    id: `fc_${randomUUID()}`,
    call_id: `call_${randomUUID()}`,
    name,
    arguments: JSON.stringify(input),
  };
}

function usage(): object {
  return {
    input_tokens: USED.input,
    input_tokens_details: { cached_tokens: USED.cached },
    output_tokens: USED.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USED.input + USED.output,
  };
}
