/** The text of all messages in a Responses answer, refusals included. */
export function responseText(output: readonly Record<string, unknown>[]): string {
  let text = '';
  for (const item of output) {
    if (item.type !== 'message' || !Array.isArray(item.content)) continue;
    for (const part of item.content as Record<string, unknown>[]) {
      const said = part.type === 'refusal' ? part.refusal : part.text;
      if (typeof said === 'string') text += said;
    }
  }
  return text;
}
