/**
 * A sentence about what a path names but does not exist: `There is no payment "pay_x".` for `/api/payments/{paymentId}`.
 * Undefined if the path has no parameters. The last parameter is taken for what is missing.
 */
export function missingResource(template: string, params: Record<string, unknown>): string | undefined {
  const [, segment = '', name = ''] = /([\w-]*)\/\{(\w+)[^{]*$/.exec(template) ?? [];
  if (name === '') return undefined;
  const noun = name === 'id' ? segment.replace(/s$/, '') : name.replace(/(Id|_id)$/, '');
  return missing(noun, String(params[name]));
}

/** A sentence about something that does not exist, with the name or id by which it was asked for. */
export function missing(noun: string, name: string): string {
  return `There is no ${noun} ${JSON.stringify(shortened(name))}.`;
}

const shownMax = 64;

function shortened(text: string): string {
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}
