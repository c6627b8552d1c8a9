/** Values by which a member asks for nothing. */
const neutralValues: Readonly<Record<string, unknown>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  logprobs: false,
  verbosity: 'medium',
  effort: 'none',
  reasoning_effort: 'none',
  // The default of every format.
  parallel_tool_calls: true,
  disable_parallel_tool_use: false,
};

/** Whether a member of a request has a value that is the default, so that nothing is lost if it is left out. */
export function asksForNothing(name: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (typeof value === 'object') {
    return (
      Object.keys(value).length === 0 || (name === 'thinking' && 'type' in value && value.type === 'disabled')
    );
  }
  return Object.hasOwn(neutralValues, name) && neutralValues[name] === value;
}
