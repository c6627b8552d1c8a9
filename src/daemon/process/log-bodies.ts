import { type Call, type Handler, RelayReply, SocketReply, StreamReply, type Turn } from '../handler.ts';

/** Of one question or answer, in characters; what is longer is cut. */
const charactersMax = 64 * 1024;

interface Log {
  info(data: object, message: string): void;
}

/**
 * Writes what is said in model calls to the log. Only these are told: the bodies of other endpoints may hold keys. For
 * whoever asked for it; nobody else pays for it.
 */
export function tellingBodies(handler: Handler, log: Log): Handler {
  const { endpoint, handle } = handler;
  if (endpoint.tag !== 'Model calls') return handler;
  const about = (requestId: string) => ({ request_id: requestId, endpoint: endpoint.id });
  const tellAsked = (requestId: string, asked: unknown) =>
    log.info({ ...about(requestId), asked: cut(JSON.stringify(asked) ?? '') }, 'a model is asked');
  const telling = (requestId: string, reply: unknown): unknown => {
    const tell = (answered: string) =>
      log.info({ ...about(requestId), answered: cut(answered) }, 'a model has answered');
    if (reply instanceof StreamReply) return new StreamReply(reply.headers, copied(reply.chunks, tell));
    if (reply instanceof SocketReply) return tellingSocket(reply);
    if (reply instanceof RelayReply) tell(Buffer.from(reply.body).toString());
    else tell(JSON.stringify(reply) ?? '');
    return reply;
  };
  const tellingSocket = (reply: SocketReply<unknown>) =>
    new SocketReply(async (turn: Turn<unknown>) => {
      tellAsked(turn.requestId, turn.message);
      return telling(turn.requestId, await reply.answer(turn)) as StreamReply;
    }, reply.onRejected);
  return {
    endpoint,
    async handle(call: Call<typeof endpoint>) {
      if (endpoint.body) tellAsked(call.requestId, call.body);
      return telling(call.requestId, await handle(call));
    },
  };
}

async function* copied(chunks: AsyncIterable<string>, tell: (text: string) => void): AsyncIterable<string> {
  let text = '';
  try {
    for await (const chunk of chunks) {
      if (text.length < charactersMax) text += chunk;
      yield chunk;
    }
  } finally {
    tell(text);
  }
}

function cut(text: string): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}
