import type { CreateResponseBody } from '../../../../shared/contract/responses.ts';
import { ApiError } from '../../../../shared/errors.ts';
import type { Inference, InputItem } from '../neutral.ts';
import type { OutputItem } from '../pipeline/output.ts';
import { isForeign, notOurs } from './compaction-item.ts';
import { summaryPrompt } from './prompt.ts';
import { transcriptOf } from './transcript.ts';

/** Room for the notes and for the thoughts before them; callers may ask for more or less. */
const outputTokensUsual = 16_384;

/** Members of the caller's body that hold for a summary too. */
const kept = ['prompt_cache_key', 'safety_identifier', 'service_tier', 'reasoning'] as const;

interface SummaryCall {
  body: CreateResponseBody;
  items: readonly InputItem[];
  stream: boolean;
}

/** The call that has the model of a request write the summary of its conversation. */
export function summaryCall({ body, items, stream }: SummaryCall): Inference {
  // What nobody here can read would be missing from the summary.
  const foreign = items.find(isForeign);
  if (foreign) throw notOurs(foreign.mustReach);
  const instructions = summaryPrompt;
  const outputTokensMax = body.max_output_tokens ?? outputTokensUsual;
  const passed = kept.flatMap((name) => (body[name] == null ? [] : [[name, body[name]] as const]));
  const text = transcriptOf(items, body.instructions ?? undefined);
  return {
    wire: 'responses',
    model: body.model,
    stream,
    items: [{ type: 'message', role: 'user', content: [{ type: 'text', text }] }],
    instructions,
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    format: undefined,
    verbosity: undefined,
    outputTokensMax,
    sampling: {},
    reasoning: body.reasoning
      ? { effort: body.reasoning.effort ?? undefined, summary: body.reasoning.summary ?? undefined }
      : undefined,
    body: {
      ...Object.fromEntries(passed),
      model: body.model,
      instructions,
      max_output_tokens: outputTokensMax,
    },
  };
}

/** What the model wrote; fails with `model_error` when that is nothing. */
export function summaryIn(items: readonly OutputItem[]): string {
  let text = '';
  for (const item of items) {
    if (item.kind !== 'message') continue;
    for (const part of item.parts) if (part.type === 'output_text') text += part.text;
  }
  const summary = text.trim();
  if (summary === '') throw new ApiError('model_error', { message: 'The model wrote no summary.' });
  return summary;
}
