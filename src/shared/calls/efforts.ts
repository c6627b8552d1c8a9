const inOrder = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The effort that a model takes in place of another: the next lower one, else its lowest; undefined for unknown ones. */
export function nearestEffort(asked: string, accepted: readonly string[]): string | undefined {
  const most = inOrder.indexOf(asked);
  if (most < 0) return undefined;
  return accepted.findLast((effort) => inOrder.indexOf(effort) <= most) ?? accepted[0];
}

/** The efforts that a text names, the least first. */
export function effortsIn(text: string): string[] {
  const named = new Set(text.match(/\b(none|minimal|low|medium|high|xhigh|max)\b/g));
  return inOrder.filter((effort) => named.has(effort));
}
