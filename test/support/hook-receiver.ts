import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message that a web hook received. */
export interface ReceivedMessage {
  id: string;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it.
  body: any;
}

/** A receiver of signed messages on a free port. It answers with the next status that it was given, else with 204. */
export async function startHookReceiver() {
  const received: ReceivedMessage[] = [];
  const statuses: (number | 'none')[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const { headers } = request;
    received.push({ id: String(headers['webhook-id']), headers, text, body: JSON.parse(text) });
    const status = statuses.shift() ?? 204;
    if (status !== 'none') response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in?key=hidden`,
    received,
    /** What the next messages are answered with; `none`: never. */
    answerWith: (...next: (number | 'none')[]) => void statuses.push(...next),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Whether a message is signed as Standard Webhooks 1.0.0 describes, and was sent in the last five minutes. */
export function isGenuine({ headers, text }: ReceivedMessage, secret: string): boolean {
  const sentAt = String(headers['webhook-timestamp']);
  if (Math.abs(Date.now() / 1000 - Number(sentAt)) > 300) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${headers['webhook-id']}.${sentAt}.${text}`).digest();
  const [version, given = ''] = String(headers['webhook-signature']).split(',');
  const sent = Buffer.from(given, 'base64');
  return version === 'v1' && sent.length === expected.length && timingSafeEqual(sent, expected);
}
