import type { Inference, OutputFormat, Tool, ToolChoice } from '../../../features/inference/neutral.ts';
import type { UpstreamCall } from '../../../features/inference/upstream.ts';
import type { Json } from '../json-value.ts';
import { objectParameters } from '../tool-parameters.ts';
import { responsesInput } from './items.ts';

const sealedReasoning = 'reasoning.encrypted_content';
const logprobs = 'message.output_text.logprobs';

/** What is the gateway's own business: it keeps the history, and a provider is told nothing of it. */
const ours = ['previous_response_id', 'conversation', 'service', 'background', 'generate', 'type'];

/** The body of a caller who speaks the Responses format, with model, input and bound of the output put in. */
export function relayedResponsesBody(call: UpstreamCall, provider: string): Json {
  const { inference, model, outputTokensMax } = call;
  const { body } = inference;
  const sent: Json = {
    ...body,
    model,
    input: responsesInput(inference.items, { provider, model }),
    stream: inference.stream,
    store: false,
    include: included(call, Array.isArray(body.include) ? body.include : []),
  };
  for (const member of ours) if (member in sent) sent[member] = undefined;
  if (outputTokensMax !== undefined) sent.max_output_tokens = outputTokensMax;
  return sent;
}

/** A Responses body for a caller who speaks another format. Always a stream. */
export function neutralResponsesBody(call: UpstreamCall, provider: string): Json {
  const { inference, model } = call;
  const { sampling, reasoning } = inference;
  const body: Json = {
    model,
    instructions: inference.instructions,
    input: responsesInput(inference.items, { provider, model }),
    stream: true,
    store: false,
    max_output_tokens: call.outputTokensMax ?? inference.outputTokensMax,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    text: textOptions(inference),
    include: included(call, sampling.topLogprobs === undefined ? [] : [logprobs]),
  };
  if (sampling.topLogprobs) body.top_logprobs = sampling.topLogprobs;
  if (reasoning !== undefined) body.reasoning = { effort: reasoning.effort, summary: reasoning.summary };
  const tools = inference.tools.flatMap(responsesTool);
  if (tools.length > 0) {
    body.tools = tools;
    body.tool_choice = inference.toolChoice && responsesToolChoice(inference.toolChoice);
    body.parallel_tool_calls = inference.parallelToolCalls;
  }
  return body;
}

/** Sealed reasoning is asked for from models that may think; the others refuse to be asked. */
function included(call: UpstreamCall, asked: unknown[]): unknown[] | undefined {
  const include = asked.filter((each) => each !== sealedReasoning);
  if (call.inference.reasoning !== undefined || asked.length > include.length || mayThink(call.model)) {
    include.push(sealedReasoning);
  }
  return include.length > 0 ? include : undefined;
}

function mayThink(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1);
  return /^(o\d|gpt-([5-9]|\d\d)|codex|grok-[4-9])/.test(name) && !/chat|non-reasoning/.test(name);
}

function textOptions({ format, verbosity }: Inference): Json | undefined {
  if (format === undefined && verbosity === undefined) return undefined;
  return { format: format && textFormat(format), verbosity };
}

function textFormat(format: OutputFormat): Json {
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', name, description, schema, strict };
}

/** Here a function is strict unless it says otherwise; in the chat format it is the other way round. */
function responsesTool(tool: Tool): Json[] {
  if (tool.type !== 'function') return [];
  const { name, description, strict = false } = tool;
  const parameters = objectParameters(tool.parameters);
  return [{ type: 'function', name, description, parameters, strict }];
}

function responsesToolChoice(choice: ToolChoice): unknown {
  if (choice.mode === 'function') return { type: 'function', name: choice.name };
  if (choice.mode !== 'allowed') return choice.mode;
  const tools = choice.names.map((name) => ({ type: 'function', name }));
  return { type: 'allowed_tools', mode: choice.required ? 'required' : 'auto', tools };
}
