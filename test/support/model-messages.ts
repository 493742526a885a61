import { randomUUID } from 'node:crypto';

/** What the scripted model says or does in one turn. */
export type Answer =
  | { readonly text: string }
  | {
      readonly toolUse: { readonly name: string; readonly input: Readonly<Record<string, unknown>> };
      readonly text?: string;
    };

/** The usage of every scripted answer. */
export const TOKENS = {
  input_tokens: 100,
  output_tokens: 40,
  cache_read_input_tokens: 30,
  cache_creation_input_tokens: 20,
};

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown };

interface StreamEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** An answer as one JSON body. */
export function messageBody(answer: Answer, model: string): unknown {
  return { ...envelope(model), content: blocksOf(answer), stop_reason: stopReason(answer), usage: TOKENS };
}

/** An answer as the events of a stream. */
export function messageEvents(answer: Answer, model: string): readonly StreamEvent[] {
  // A real stream also reports one output token at first and the rest at the end.
  const message = { ...envelope(model), content: [], stop_reason: null, usage: { ...TOKENS, output_tokens: 1 } };
  return [
    { type: 'message_start', message },
    ...blocksOf(answer).flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason(answer), stop_sequence: null },
      usage: { output_tokens: TOKENS.output_tokens },
    },
    { type: 'message_stop' },
  ];
}

function blockEvents(block: Block, index: number): readonly StreamEvent[] {
  const [empty, delta] =
    block.type === 'text'
      ? [
          { ...block, text: '' },
          { type: 'text_delta', text: block.text },
        ]
      : [
          { ...block, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
        ];
  return [
    { type: 'content_block_start', index, content_block: empty },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ];
}

function blocksOf(answer: Answer): readonly Block[] {
  const text = answer.text === undefined ? [] : [{ type: 'text' as const, text: answer.text }];
  if (!('toolUse' in answer)) return text;
  return [...text, { type: 'tool_use', id: `toolu_${randomUUID()}`, ...answer.toolUse }];
}

function stopReason(answer: Answer): string {
  return 'toolUse' in answer ? 'tool_use' : 'end_turn';
}

function envelope(model: string): object {
  return { id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', model, stop_sequence: null };
}
