import { callModel, isComplete, parseStream, type Target } from './model-client.ts';

/** An answer that a client received whole. */
export interface Acknowledged {
  /** Of the call that was charged: the answer of a repeated request can be that of an earlier one. */
  requestId: string;
  /** Undefined without an Idempotency-Key. */
  idempotencyKey: string | undefined;
  /** The generated text. */
  text: string;
  /** Milliseconds from the request to the last byte, and when that was, by `performance.now()`. */
  tookMs: number;
  at: number;
}

/** Clients that call one after the other until they are stopped. */
export interface Load {
  acknowledged: Acknowledged[];
  /** How often each status came; 0 without one, -1 for an answer that was cut or ended with an error. */
  statuses: Map<number, number>;
  /** What came with a status other than 200. */
  failures: string[];
  /** Resolves when the last call has ended. */
  stop(): Promise<void>;
}

interface LoadOptions {
  clients: number;
  model: string;
  /** Further members of each body. */
  more?: Record<string, unknown>;
  /** The least time between two calls of a client, in milliseconds. */
  everyMs?: number;
}

/** Half of the calls are streams, and a fourth are idempotent: those are repeated with their key until they are answered. */
export function startLoad(target: () => Target, options: LoadOptions): Load {
  const acknowledged: Acknowledged[] = [];
  const statuses = new Map<number, number>();
  const failures: string[] = [];
  let isOver = false;
  let keys = 0;
  const tally = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);

  const call = async (stream: boolean, idempotencyKey: string | undefined): Promise<boolean> => {
    const start = performance.now();
    const answer = callModel(target(), {
      wire: 'chat',
      model: options.model,
      stream,
      ...(options.more && { more: options.more }),
      ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
    });
    const end = await answer.ended;
    const isCut = end === 'cut' || (answer.status === 200 && !isComplete(answer, stream));
    tally(isCut && answer.status !== 0 ? -1 : answer.status);
    if (answer.status !== 200) failures.push(answer.text);
    if (isCut || answer.status !== 200) return false;
    const text = stream ? parseStream(answer.text).text : textOf(answer.text);
    const at = performance.now();
    const requestId = String(answer.headers['x-service-replay-of'] ?? answer.headers['x-request-id']);
    acknowledged.push({ requestId, idempotencyKey, text, tookMs: at - start, at });
    return true;
  };
  const client = async (at: number): Promise<void> => {
    for (let sent = at; !isOver; sent += 1) {
      const start = performance.now();
      const stream = sent % 2 === 0;
      const isIdempotent = sent % 4 === 3;
      keys += 1;
      const key = isIdempotent ? `load-${process.pid}-${keys}` : undefined;
      // Those who repeat without a key may pay twice, so only these do.
      while (!(await call(stream, key)) && key !== undefined && !isOver) await pause(100);
      const left = (options.everyMs ?? 0) - (performance.now() - start);
      if (left > 0) await pause(left);
    }
  };
  const ended = Promise.all(Array.from({ length: options.clients }, (_, at) => client(at)));
  return {
    acknowledged,
    statuses,
    failures,
    stop: async () => {
      isOver = true;
      await ended;
    },
  };
}

function textOf(document: string): string {
  const { choices } = JSON.parse(document) as { choices: { message: { content: string } }[] };
  return choices[0]?.message.content ?? '';
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
