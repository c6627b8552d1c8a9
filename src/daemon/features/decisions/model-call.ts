import { isObject, type Json } from '../../../shared/faults/invalid-request.ts';
import type { Tokens } from '../../../shared/money/money.ts';
import type { UpstreamAnswer } from '../upstreams/upstream.ts';

/** A short chat completion, without the model's name. */
export interface ModelQuestion {
  system: string;
  user: string;
  outputTokensMax: number;
  /** Asks for the probabilities of that many tokens per position. */
  topLogprobs?: number;
  /** Suppresses reasoning, in the terms of the provider. */
  withoutThinking?: boolean;
  /** The JSON Schema of the answer. */
  schema?: Json;
}

/** The most probable tokens of one position, as text with their probability. */
export interface TokenPosition {
  /** The token that was generated. */
  token: string;
  candidates: readonly { token: string; probability: number }[];
}

export interface ModelReply {
  text: string;
  refused: boolean;
  /** Empty if the provider reported none. */
  positions: readonly TokenPosition[];
}

/** Asks the model of one route. Rejects with an `UpstreamFailure` or a `SourceFailure`. */
export type CallModel = (question: ModelQuestion) => Promise<ModelReply>;

/** Reads an answer to its end, whichever form it has. */
export async function readReply(
  answer: UpstreamAnswer,
): Promise<{ reply: ModelReply; tokens: Tokens | undefined }> {
  if (answer.kind === 'json') {
    if (answer.failure) throw answer.failure;
    return { reply: replyOf(answer.json, answer.finish), tokens: answer.tokens };
  }
  if (answer.kind !== 'stream') throw new TypeError('a chat completion was requested');
  let text = '';
  let refused = false;
  let tokens: Tokens | undefined;
  const logprobs: unknown[] = [];
  for await (const { events } of answer.batches) {
    for (const event of events) {
      if (event.type === 'text') {
        text += event.delta;
        if (event.logprobs) logprobs.push(...event.logprobs);
      } else if (event.type === 'refusal') refused = true;
      else if (event.type === 'usage') tokens = event.tokens;
      else if (event.type === 'finished' && event.reason === 'content_filter') refused = true;
    }
  }
  return { reply: { text, refused, positions: positionsIn(logprobs) }, tokens };
}

/** A whole answer in the chat format. */
function replyOf(json: Json, finish: string): ModelReply {
  const choice: unknown = Array.isArray(json.choices) ? json.choices[0] : undefined;
  const { message, logprobs } = isObject(choice) ? choice : {};
  const { content, refusal } = isObject(message) ? message : {};
  return {
    text: typeof content === 'string' ? content : '',
    refused: (typeof refusal === 'string' && refusal !== '') || finish === 'content_filter',
    positions: positionsIn(isObject(logprobs) ? logprobs.content : undefined),
  };
}

/** The `logprobs.content` of OpenAI's formats. */
function positionsIn(content: unknown): TokenPosition[] {
  if (!Array.isArray(content)) return [];
  return content.filter(isObject).flatMap((position): TokenPosition[] => {
    const top = Array.isArray(position.top_logprobs) ? position.top_logprobs : [];
    const candidates = new Map<string, number>();
    // The generated token may not be among the most probable ones.
    for (const each of [position, ...top]) {
      if (!isObject(each) || typeof each.token !== 'string' || typeof each.logprob !== 'number') continue;
      candidates.set(each.token, Math.exp(Math.min(0, each.logprob)));
    }
    if (typeof position.token !== 'string' || candidates.size === 0) return [];
    return [
      {
        token: position.token,
        candidates: [...candidates].map(([token, probability]) => ({ token, probability })),
      },
    ];
  });
}
