import type { ContentPart, Inference, InputItem } from '../../src/daemon/features/upstreams/neutral.ts';

/** What a user says, with whatever else belongs to it. */
export function user(text: string, ...more: ContentPart[]): InputItem {
  return { type: 'message', role: 'user', content: [{ type: 'text', text }, ...more] };
}

/** A streamed call with the input Hello to an unknown model, to be varied. */
export function inferenceOf(details: Partial<Inference> = {}): Inference {
  return {
    wire: 'responses',
    model: 'any/any',
    stream: true,
    items: [user('Hello')],
    instructions: undefined,
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    format: undefined,
    verbosity: undefined,
    outputTokensMax: undefined,
    sampling: {},
    reasoning: undefined,
    body: {},
    ...details,
  };
}
