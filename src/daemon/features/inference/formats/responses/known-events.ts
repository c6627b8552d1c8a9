/** The groups of OpenAI's events, and the last parts of their names. Source: OpenAI's API reference, streaming events. */
const groups: Record<string, readonly string[]> = {
  response: ['created', 'queued', 'in_progress', 'completed', 'incomplete', 'failed'],
  output_item: ['added', 'done'],
  content_part: ['added', 'done'],
  output_text: ['delta', 'done', 'annotation.added'],
  refusal: ['delta', 'done'],
  function_call_arguments: ['delta', 'done'],
  custom_tool_call_input: ['delta', 'done'],
  reasoning_summary_part: ['added', 'done'],
  reasoning_summary_text: ['delta', 'done'],
  reasoning_text: ['delta', 'done'],
  file_search_call: ['in_progress', 'searching', 'completed'],
  web_search_call: ['in_progress', 'searching', 'completed'],
  image_generation_call: ['in_progress', 'generating', 'partial_image', 'completed'],
  code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
  code_interpreter_call_code: ['delta', 'done'],
  mcp_call: ['in_progress', 'completed', 'failed'],
  mcp_call_arguments: ['delta', 'done'],
  mcp_list_tools: ['in_progress', 'completed', 'failed'],
  audio: ['delta', 'done', 'transcript.delta', 'transcript.done'],
};

/** The events that every client of the format knows. The stream helper of OpenAI's SDK throws on others. */
export const knownEvents: ReadonlySet<string> = new Set([
  'error',
  ...Object.entries(groups).flatMap(([group, names]) =>
    names.map((name) => (group === 'response' ? `response.${name}` : `response.${group}.${name}`)),
  ),
]);
