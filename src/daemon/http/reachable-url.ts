/** The address to call a server by. All addresses at once, `0.0.0.0` and `::`, are listened on but not called. */
export function reachableUrl(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
