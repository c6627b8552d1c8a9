import type { Client } from '@modelcontextprotocol/client';

export interface Progress {
  progress: number;
  message?: string;
}

/**
 * All progress notifications from now on. The client drops those that it reads together with the result they precede, so
 * they are taken from its transport.
 */
export function collectProgress({ transport }: Client): Progress[] {
  const collected: Progress[] = [];
  const deliver = transport?.onmessage;
  if (!transport || !deliver) throw new Error('the client is not connected');
  transport.onmessage = (message, extra) => {
    if ('method' in message && message.method === 'notifications/progress') {
      collected.push(message.params as unknown as Progress);
    }
    deliver(message, extra);
  };
  return collected;
}
