import type {
  Inference,
  OutputFormat,
  Sampling,
  Tool,
  ToolChoice,
} from '../../../features/inference/neutral.ts';
import type { UpstreamCall } from '../../../features/inference/upstream.ts';
import type { Json } from '../json-value.ts';
import { objectParameters } from '../tool-parameters.ts';
import { type Flavour, outputTokensField } from './flavour.ts';
import { chatMessages } from './messages.ts';

/** A chat body for a caller who speaks another format. Always a stream. */
export function neutralBody(call: UpstreamCall, provider: string, flavour: Flavour): Json {
  const { inference, model, outputTokensMax } = call;
  const receiver = { provider, model, flavour };
  const body: Json = {
    model,
    messages: chatMessages(inference.items, inference.instructions, receiver),
    stream: true,
  };
  if (flavour.takesStreamOptions) body.stream_options = { include_usage: true };
  const bound = outputTokensMax ?? inference.outputTokensMax;
  if (bound !== undefined) body[outputTokensField(flavour, model)] = bound;
  addTools(body, inference, flavour);
  addSampling(body, inference.sampling, flavour);
  if (inference.format !== undefined) body.response_format = responseFormat(inference.format);
  const effort = inference.reasoning?.effort;
  if (effort !== undefined) body[flavour.effort] = flavour.effort === 'reasoning' ? { effort } : effort;
  if (inference.verbosity !== undefined && flavour.takesVerbosity) body.verbosity = inference.verbosity;
  return body;
}

function addTools(body: Json, inference: Inference, flavour: Flavour): void {
  const { toolChoice, parallelToolCalls } = inference;
  const allowed = toolChoice?.mode === 'allowed' ? new Set(toolChoice.names) : undefined;
  const tools = inference.tools.flatMap((tool) =>
    tool.type === 'function' && (allowed?.has(tool.name) ?? true) ? [chatTool(tool)] : [],
  );
  // Without tools, a choice among them is refused.
  if (tools.length === 0) return;
  body.tools = tools;
  if (toolChoice !== undefined) body.tool_choice = chatToolChoice(toolChoice, flavour);
  if (parallelToolCalls !== undefined) body.parallel_tool_calls = parallelToolCalls;
}

function chatTool(tool: Extract<Tool, { type: 'function' }>): Json {
  return {
    type: 'function',
    function: {
      name: tool.name,
      description: tool.description,
      parameters: objectParameters(tool.parameters),
      strict: tool.strict,
    },
  };
}

function chatToolChoice(choice: ToolChoice, flavour: Flavour): unknown {
  if (choice.mode === 'function') return { type: 'function', function: { name: choice.name } };
  const isRequired = choice.mode === 'required' || (choice.mode === 'allowed' && choice.required);
  if (isRequired) return flavour.requiredToolChoice;
  return choice.mode === 'allowed' ? 'auto' : choice.mode;
}

function addSampling(body: Json, sampling: Sampling, flavour: Flavour): void {
  body.temperature = sampling.temperature;
  body.top_p = sampling.topP;
  if (flavour.takesTopK) body.top_k = sampling.topK;
  body.presence_penalty = sampling.presencePenalty;
  body.frequency_penalty = sampling.frequencyPenalty;
  body.stop = sampling.stop;
  body[flavour.seedField] = sampling.seed;
  if (sampling.topLogprobs !== undefined) {
    body.logprobs = true;
    body.top_logprobs = sampling.topLogprobs;
  }
}

function responseFormat(format: OutputFormat): Json {
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, description, schema, strict } };
}
