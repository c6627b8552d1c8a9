/** The header with Gateway's key where `Authorization` is for the provider. */
export const gatewayKeyHeader = 'x-gateway-key';

/** What a path begins with that holds a key, for clients that cannot send a second header: `/k/gwk_…/v1/messages`. */
export const keyedPrefix = '/k/';

/** The key in a path, and the path without it; undefined if there is none. */
export function keyInPath(path: string): { key: string; path: string } | undefined {
  if (!path.startsWith(keyedPrefix)) return undefined;
  const end = path.indexOf('/', keyedPrefix.length);
  if (end < 0) return undefined;
  return { key: path.slice(keyedPrefix.length, end), path: path.slice(end) };
}
