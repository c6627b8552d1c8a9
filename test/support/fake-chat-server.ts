import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chatDocument } from './fake-openai-chat.ts';

export interface FakeChatServer {
  /** Ends with `/v1`. */
  url: string;
  /** What it got as `Authorization`, by request. */
  sent: string[];
  close(): void;
}

/** A server with OpenAI's chat format that answers everything with "Hello.". */
export async function startFakeChatServer(usage?: {
  prompt_tokens: number;
  completion_tokens: number;
}): Promise<FakeChatServer> {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    sent.push(request.headers.authorization ?? 'none');
    request.resume();
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      const document = chatDocument({ text: 'Hello.' }, { model: 'm' });
      response.end(JSON.stringify(usage ? { ...document, usage } : document));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, sent, close: () => void server.close() };
}
