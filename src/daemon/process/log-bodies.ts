import { type Call, type Handler, RelayReply, SocketReply, StreamReply, type Turn } from '../handler.ts';
import type { Log } from '../log.ts';

/** Longer request and response bodies are truncated in the log. */
const charactersMax = 64 * 1024;

/** Logs the bodies of model calls. Other endpoints are left alone, as their bodies can contain keys. */
export function withLoggedBodies(handler: Handler, log: Pick<Log, 'info'>): Handler {
  const { endpoint, handle } = handler;
  if (endpoint.tag !== 'Model calls') return handler;
  const about = (requestId: string) => ({ request_id: requestId, endpoint: endpoint.id });
  const logRequest = (requestId: string, body: unknown) =>
    log.info({ ...about(requestId), asked: truncate(JSON.stringify(body) ?? '') }, 'model request');
  const logReply = (requestId: string, reply: unknown): unknown => {
    const write = (text: string) =>
      log.info({ ...about(requestId), answered: truncate(text) }, 'model response');
    if (reply instanceof StreamReply) return new StreamReply(reply.headers, copied(reply.chunks, write));
    if (reply instanceof SocketReply) return logSocket(reply);
    if (reply instanceof RelayReply) write(Buffer.from(reply.body).toString());
    else write(JSON.stringify(reply) ?? '');
    return reply;
  };
  const logSocket = (reply: SocketReply<unknown>) =>
    new SocketReply(async (turn: Turn<unknown>) => {
      logRequest(turn.requestId, turn.message);
      return logReply(turn.requestId, await reply.answer(turn)) as StreamReply;
    }, reply.onRejected);
  return {
    ...handler,
    async handle(call: Call<typeof endpoint>) {
      if (endpoint.body) logRequest(call.requestId, call.body);
      return logReply(call.requestId, await handle(call));
    },
  };
}

async function* copied(chunks: AsyncIterable<string>, write: (text: string) => void): AsyncIterable<string> {
  let text = '';
  try {
    for await (const chunk of chunks) {
      if (text.length < charactersMax) text += chunk;
      yield chunk;
    }
  } finally {
    write(text);
  }
}

function truncate(text: string): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}
