import type { Json } from '../faults/invalid-request.ts';

/** Members of a response that repeat the request, or that the gateway sets itself. */
const ownMembers = new Set([
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'incomplete_details', 'error', 'model'],
  ...['output', 'output_text', 'usage', 'store', 'background', 'previous_response_id', 'conversation'],
  ...['instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'text', 'reasoning', 'truncation'],
  ...['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'top_logprobs', 'metadata'],
  ...['max_output_tokens', 'max_tool_calls', 'safety_identifier', 'prompt_cache_key', 'service'],
]);

/**
 * What else a provider says in the response object, for callers of the same format: the service tier that it used, results of
 * moderation, reasoning that it left out. Undefined if there is nothing.
 */
export function providerMembers(response: Json): Json | undefined {
  let members: Json | undefined;
  for (const name in response) {
    const value = response[name];
    if (value === null || ownMembers.has(name)) continue;
    members ??= {};
    members[name] = value;
  }
  return members;
}
