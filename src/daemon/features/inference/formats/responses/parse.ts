import type { CreateResponseBody } from '../../../../../shared/contract/responses.ts';
import { invalid, isObject, optionalText } from '../../fault.ts';
import type { Inference, InputItem, Sampling } from '../../neutral.ts';
import { parseFormat, parseToolChoice, parseTools } from './tools.ts';

/** Members that are the gateway's own business and are never sent to a provider. */
const gatewayMembers = new Set([
  ...['service', 'store', 'previous_response_id', 'background', 'conversation', 'context_management'],
]);

/** Responses body → neutral call. `items` are the resolved input: history first, then this call's own. */
export function parseResponses(body: CreateResponseBody, items: InputItem[]): Inference {
  const tools = parseTools(body.tools);
  const text = isObject(body.text) ? body.text : {};
  const verbosity = optionalText(text.verbosity, 'text.verbosity');
  return {
    wire: 'responses',
    model: body.model,
    stream: body.stream === true,
    items,
    instructions: body.instructions ?? undefined,
    tools,
    toolChoice: parseToolChoice(body.tool_choice, tools),
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    format: parseFormat(text.format, 'text.format'),
    verbosity: verbosity === 'low' || verbosity === 'medium' || verbosity === 'high' ? verbosity : undefined,
    outputTokensMax: body.max_output_tokens ?? undefined,
    sampling: samplingOf(body),
    reasoning: body.reasoning
      ? { effort: body.reasoning.effort ?? undefined, summary: body.reasoning.summary ?? undefined }
      : undefined,
    body: Object.fromEntries(Object.entries(body).filter(([name]) => !gatewayMembers.has(name))),
  };
}

/** Refuses a call that asks nothing. */
export function refuseEmpty(body: CreateResponseBody): void {
  if (body.input === undefined && !body.previous_response_id && !isObject(body.prompt))
    throw invalid('input', 'A request needs input.');
}

function samplingOf(body: CreateResponseBody): Sampling {
  const sampling: Sampling = {};
  if (typeof body.temperature === 'number') sampling.temperature = body.temperature;
  if (typeof body.top_p === 'number') sampling.topP = body.top_p;
  if (typeof body.presence_penalty === 'number') sampling.presencePenalty = body.presence_penalty;
  if (typeof body.frequency_penalty === 'number') sampling.frequencyPenalty = body.frequency_penalty;
  const wantsLogprobs =
    body.include?.includes('message.output_text.logprobs') || (body.top_logprobs ?? 0) > 0;
  if (wantsLogprobs) sampling.topLogprobs = body.top_logprobs ?? 0;
  return sampling;
}
