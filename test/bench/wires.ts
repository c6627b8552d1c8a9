/** The wire formats that the bench speaks, on both sides of the gateway. */
export type Wire = 'chat' | 'responses' | 'messages';

export const paths: Record<Wire, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};

/**
 * What stands before the stamp of each token on the wire. Only deltas have it: snapshots hold the text in `text`
 * or `content` of a whole message.
 */
export const tokenMarks: Record<Wire, string> = {
  chat: '"content":"@',
  responses: '"delta":"@',
  messages: '"text":"@',
};

/** Stands in the last event of a whole stream. */
export const endMarks: Record<Wire, string> = {
  chat: 'data: [DONE]',
  responses: 'response.completed',
  messages: 'data: {"type":"message_stop"}',
};

/** How a model's name asks the mock provider for a behaviour. */
export interface Behaviour {
  tokens: number;
  /** Between two tokens of a stream; 0 writes the whole stream in one piece. */
  delayMs: number;
}

export function modelName({ tokens, delayMs }: Behaviour): string {
  return `tokens-${tokens}-delay-${delayMs}`;
}

export function behaviourOf(model: string): Behaviour {
  const [, tokens = '50', delayMs = '0'] = /tokens-(\d+)-delay-(\d+)/.exec(model) ?? [];
  return { tokens: Number(tokens), delayMs: Number(delayMs) };
}

/**
 * A request as a client of a chat or coding program would send it: a short prompt of 200 bytes. A response can be retrieved later
 * unless the client wants none to be stored.
 */
export function requestBody(
  wire: Wire,
  model: string,
  { isStream, isStored = true }: { isStream: boolean; isStored?: boolean },
): string {
  const prompt = 'Tell me of the sea. '.repeat(10);
  const common = { model, stream: isStream };
  return JSON.stringify(
    wire === 'responses'
      ? { ...common, input: prompt, ...(!isStored && { store: false }) }
      : {
          ...common,
          messages: [{ role: 'user', content: prompt }],
          ...(wire === 'messages' && { max_tokens: 4096 }),
        },
  );
}

/** Digits of a stamp: microseconds of the clock that all processes of a machine share. */
export const stampDigits = 16;

/** Microseconds, comparable between processes on one machine. */
export function clockUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
