import type { Inference, InputItem } from '../../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../../features/upstreams/upstream.ts';
import type { PlannedCall } from './answer.ts';
import type { Conversation, FunctionTool } from './conversation.ts';
import { argumentsFor } from './schema-values.ts';

const wantsSeveral = /\b(?:parallel|both|all (?:the |of the |your )?tools)\b/i;

/** Agents offer more tools than this, some of which start agents: calling the first one could go on and on. */
const unnamedToolsMax = 8;

/**
 * Chooses the tools to call: none after a tool result or with `tool_choice: none`; the one in `tool_choice`; else those
 * named in the user's text or, if there are none and only a few tools, the first one. All of them if the text asks for that.
 */
export function chooseTools(inference: Inference, conversation: Conversation): FunctionTool[] {
  const { toolChoice, parallelToolCalls } = inference;
  if (toolChoice?.mode === 'none' || endsWithResults(inference.items)) return [];
  if (toolChoice?.mode === 'function') return [named(conversation.tools, toolChoice.name)];
  const allowed =
    toolChoice?.mode === 'allowed'
      ? conversation.tools.filter(({ name }) => toolChoice.names.includes(name))
      : conversation.tools;
  const text = conversation.userText;
  const mentioned = allowed.filter(({ name }) => mentions(text, name));
  const candidates = mentioned.length > 0 ? mentioned : allowed;
  const isSeveral = wantsSeveral.test(text) && parallelToolCalls !== false;
  const mayAnswer = toolChoice === undefined || toolChoice.mode === 'auto';
  if (mayAnswer && mentioned.length === 0 && !isSeveral && allowed.length > unnamedToolsMax) return [];
  if (!isSeveral) return candidates.slice(0, 1);
  return mentioned.length > 1 ? mentioned : allowed;
}

/** Whether tools have answered since the model's last turn; some clients add hints to the results. */
function endsWithResults(items: readonly InputItem[]): boolean {
  const isModels = (item: InputItem) =>
    item.type === 'function_call' || (item.type === 'message' && item.role === 'assistant');
  return items.slice(items.findLastIndex(isModels) + 1).some(({ type }) => type === 'function_call_output');
}

export function planCall(tool: FunctionTool, conversation: Conversation): PlannedCall {
  return { name: tool.name, arguments: argumentsFor(tool, conversation) };
}

function named(tools: readonly FunctionTool[], name: string): FunctionTool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool) return tool;
  const message = 'tool_choice names a function that is not in tools.';
  throw new UpstreamFailure('caller', message, {
    status: 400,
    code: 'invalid_request',
    publicMessage: message,
    param: 'tool_choice',
  });
}

function mentions(text: string, name: string): boolean {
  const at = text.toLowerCase().indexOf(name.toLowerCase());
  if (at < 0) return false;
  const isPart = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
  return !isPart(text[at - 1]) && !isPart(text[at + name.length]);
}
