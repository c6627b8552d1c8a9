interface Page {
  document?: { querySelector(selector: string): { content?: string } | null };
}

/** How commands are typed on the machine of the gateway: `gateway`, or `npx gateway` where npm started it. */
const command = (globalThis as Page).document?.querySelector('meta[name=command]')?.content ?? 'gateway';

/** A text with its `gateway` commands as they are typed. */
export function typed(text: string): string {
  return command === 'gateway' ? text : text.replace(/(?<!npx )\bgateway (?=[a-z]|--)/g, `${command} `);
}
