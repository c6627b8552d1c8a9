/** The path that `unix:/run/gateway.sock` or `unix:///run/gateway.sock` names; undefined for any other address. */
export function socketPathOf(address: string): string | undefined {
  return /^unix:(?:\/\/)?(\/[^/].*)$/i.exec(address)?.[1];
}

/** The address of a Unix socket, as it is kept and shown. */
export function socketAddress(path: string): string {
  return `unix:${path}`;
}
