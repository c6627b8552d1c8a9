import { type JsonObject, ownValue } from '../../../shared/json/json-object.ts';
import type { FinishReason } from '../../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../../features/upstreams/upstream.ts';

/** How an answer ended. */
export interface Ended {
  reason: FinishReason;
  /** The provider's word for it, where `reason` says less. */
  providerReason?: string;
}

type Ending = FinishReason | 'failed';

/** The words of the formats themselves. Those of other servers are in `endings`. */
const plainWords: Record<string, FinishReason> = {
  stop: 'stop',
  tool_calls: 'stop',
  function_call: 'stop',
  end_turn: 'stop',
  tool_use: 'stop',
  stop_sequence: 'stop',
  completed: 'stop',
  STOP: 'stop',
  length: 'max_output_tokens',
  max_tokens: 'max_output_tokens',
  max_output_tokens: 'max_output_tokens',
  MAX_TOKENS: 'max_output_tokens',
  content_filter: 'content_filter',
  refusal: 'content_filter',
};

/**
 * Words for the end of an answer whose parts do not tell, in lower case with underscores. Source: the references of the providers
 * in docs/providers.md, vLLM, SGLang, llama.cpp, TGI, Cohere, MiniMax, Moonshot, Z.ai and DashScope, and public reports.
 */
const endings: Record<Ending, readonly string[]> = {
  stop: [
    ...['eot', 'eog', 'done', 'finish', 'finished', 'complete', 'success', 'normal', 'natural'],
    ...['tools', 'function_calls', 'pause_turn', 'compaction', 'matched_stop'],
  ],
  // vLLM stops an answer that repeats itself.
  max_output_tokens: ['limit', 'cut', 'incomplete', 'repetition'],
  // By its first part, `error_toxic` would be a failure.
  content_filter: ['spii', 'model_armor', 'jailbreak', 'error_toxic', 'violation'],
  failed: [
    ...['rejected', 'insufficient_system_resource', 'preempted', 'disconnected', 'unavailable'],
    ...['too_many_tool_calls', 'missing_thought_signature'],
  ],
};

const endingByWord = new Map<string, Ending>(
  (Object.keys(endings) as Ending[]).flatMap((ending) =>
    endings[ending].map((word) => [word, ending] as const),
  ),
);

/** What parts of words mean, such as `stream_error`, `max_context_length` or `image_safety`. */
const endingByPart: readonly [RegExp, Ending][] = [
  [/malformed|error|fail|abort|cancel|time_?out|exception|unexpected|invalid|overload|interrupt/, 'failed'],
  [/max_.{0,30}token|token.{0,30}(limit|max)|length|context_window|truncat/, 'max_output_tokens'],
  [/filter|safety|sensitiv|prohibit|moderat|refus|block|policy|guardrail|harm|recitation/, 'content_filter'],
  [/^(stop|end|eos)(_|$)|tool_?(call|use)/, 'stop'],
];

/** What a part in front of a colon means if the word after it is not known. Source: Gemini's API in OpenAI's format. */
const endingByPrefix: Record<string, Ending> = {
  content_filter: 'content_filter',
  function_call_filter: 'failed',
  error: 'failed',
  length: 'max_output_tokens',
};

/** What a word for the end of an answer means; undefined for one that is not known. */
function endingOf(word: string): Ending | undefined {
  const plain = ownValue(plainWords, word);
  if (plain !== undefined) return plain;
  const [first = '', ...rest] = word.slice(0, wordCharsMax).split(':').map(normal);
  const last = rest.at(-1);
  if (last === undefined) return knownEnding(first);
  return knownEnding(last) ?? ownValue(endingByPrefix, first) ?? knownEnding(first);
}

function knownEnding(word: string): Ending | undefined {
  return (
    ownValue(plainWords, word) ??
    endingByWord.get(word) ??
    endingByPart.find(([part]) => part.test(word))?.[1]
  );
}

const wordCharsMax = 100;

function normal(word: string): string {
  return word
    .trim()
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
}

/** A word that says nothing of the request, as logs and traces show it. */
const showable = /^[A-Za-z][\w.-]{0,47}(: ?[A-Za-z][\w.-]{0,47})?$/;

/** Words by which a provider says that its answer is a call. */
const callWords: ReadonlySet<unknown> = new Set(['tool_calls', 'tool_call', 'tool_use', 'function_call']);

export function saysCall(word: unknown): boolean {
  return callWords.has(word);
}

/**
 * How an answer with this word ended; without a word, it is complete. Throws an UpstreamFailure for words that mean a
 * failure, and, if nothing was generated that a caller can use, for unknown words and those that announce a call.
 */
export function endedWith(
  word: string | undefined,
  { provider, isUsable }: { provider: string; isUsable: boolean },
): Ended {
  if (word === undefined || word === '') return { reason: 'stop' };
  const isMissing = !isUsable && saysCall(word);
  const ending = isMissing ? 'failed' : (endingOf(word) ?? (isUsable ? 'stop' : 'failed'));
  const shown = showable.test(word) ? word : 'an unknown reason';
  if (ending === 'failed') throw endFailure(provider, shown);
  return Object.hasOwn(plainWords, word) ? { reason: ending } : { reason: ending, providerReason: shown };
}

/**
 * The word of the provider behind a router, if it says that the answer failed or was filtered where the router's word is
 * that it is complete; else the router's own.
 */
export function behindRouter(word: string | undefined, native: unknown): string | undefined {
  if (typeof native !== 'string' || word === undefined || endingOf(word) !== 'stop') return word;
  const ending = endingOf(native);
  return ending === 'failed' || ending === 'content_filter' ? native : word;
}

function endFailure(provider: string, word: string): UpstreamFailure {
  const code = word.toLowerCase();
  return new UpstreamFailure('server', `${provider} ended its answer with ${word}`, {
    publicMessage: `The answer ended with ${word}.`,
    ...(/^[a-z][\w.-]*$/.test(code) && { providerCode: code }),
  });
}

/**
 * The stop sequence that ended a choice, where the server names it: in `stop_reason` (vLLM) or `matched_stop` (SGLang), which also have
 * the numbers of tokens. Source: agentgateway/agentgateway#3283, vllm-project/vllm#45807, sgl-project/sglang#33153. Others only say that
 * there was one.
 */
export function matchedStop(choice: JsonObject, sequences: readonly string[]): string | undefined {
  const { stop_reason: named, matched_stop: matched } = choice;
  const isSaid = choice.finish_reason === 'stop_sequence' || choice.native_finish_reason === 'stop_sequence';
  if (isSaid && sequences.length === 1) return sequences[0];
  return sequences.find((sequence) => sequence === named || sequence === matched);
}
