/** In OpenAI's, Anthropic's and the standard's names. */
const limitName = /^(x-|anthropic-)?ratelimit-[a-z0-9-]{1,60}$/;
const plainValue = /^[\x20-\x7e]{1,200}$/;

/** The headers of an answer that state the limits of the account there. */
export function rateLimitsIn(headers: Record<string, string>): { rateLimits?: Record<string, string> } {
  let rateLimits: Record<string, string> | undefined;
  for (const name in headers) {
    const value = headers[name] as string;
    if (!name.includes('ratelimit-') || !limitName.test(name) || !plainValue.test(value)) continue;
    rateLimits ??= {};
    rateLimits[name] = value;
  }
  return rateLimits === undefined ? {} : { rateLimits };
}
