/** The origins whose pages may call. */
export interface AllowedOrigins {
  /** Whether there are any. */
  any: boolean;
  has(origin: string): boolean;
}

/**
 * From origins as they are configured: `https://app.example`, `chrome-extension://ID`, `null` for pages without an origin of
 * their own, and `vscode-webview://*` for a scheme whose names change with each window.
 */
export function allowedOrigins(configured: readonly string[]): AllowedOrigins {
  const names = new Set(configured.map(asSent));
  const has = (origin: string): boolean => {
    const sent = origin.toLowerCase();
    return names.has(sent) || names.has(`${sent.split('://', 1)[0]}://*`);
  };
  return { any: names.size > 0, has };
}

/** An origin as browsers send it: in lower case, without a slash at its end, and without the default port. */
function asSent(configured: string): string {
  const lower = configured.toLowerCase();
  const origin = lower.endsWith('/') && !lower.endsWith('://') ? lower.slice(0, -1) : lower;
  const defaultPort = origin.startsWith('http:') ? ':80' : origin.startsWith('https:') ? ':443' : '';
  return origin.endsWith(defaultPort) ? origin.slice(0, origin.length - defaultPort.length) : origin;
}
