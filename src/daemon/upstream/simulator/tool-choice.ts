import type { Inference } from '../../features/inference/neutral.ts';
import { UpstreamFailure } from '../../features/inference/upstream.ts';
import type { PlannedCall } from './answer.ts';
import type { Conversation, FunctionTool } from './conversation.ts';
import { argumentsFor } from './schema-values.ts';

const askedForSeveral = /\b(?:parallel|both|all (?:the |of the |your )?tools)\b/i;

/**
 * The tools to call now: none after a tool result or when tools are forbidden; the one that `tool_choice` names; else
 * those that the user's text names or, if it names none, the first; all of them when the text asks for that.
 */
export function chooseTools(inference: Inference, conversation: Conversation): FunctionTool[] {
  const { toolChoice, parallelToolCalls } = inference;
  if (conversation.toolResults.length > 0 || toolChoice?.mode === 'none') return [];
  if (toolChoice?.mode === 'function') return [named(conversation.tools, toolChoice.name)];
  const allowed =
    toolChoice?.mode === 'allowed'
      ? conversation.tools.filter(({ name }) => toolChoice.names.includes(name))
      : conversation.tools;
  const text = conversation.userText;
  const mentioned = allowed.filter(({ name }) => mentions(text, name));
  const candidates = mentioned.length > 0 ? mentioned : allowed;
  const isSeveral = askedForSeveral.test(text) && parallelToolCalls !== false;
  if (!isSeveral) return candidates.slice(0, 1);
  return mentioned.length > 1 ? mentioned : allowed;
}

export function planCall(tool: FunctionTool, conversation: Conversation): PlannedCall {
  return { name: tool.name, arguments: argumentsFor(tool, conversation) };
}

function named(tools: readonly FunctionTool[], name: string): FunctionTool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool) return tool;
  const message = 'tool_choice names a function that is not among the tools.';
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
