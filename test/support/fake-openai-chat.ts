import {
  argumentsOf,
  callIdOf,
  defaultUsage,
  type FakeAnswer,
  type FakeUsage,
  piecesOf,
} from './fake-openai-script.ts';

type Json = Record<string, unknown>;

const base = { id: 'chatcmpl-fake', created: 1_795_000_000, system_fingerprint: 'fp_fake' };

function chatUsage(usage: FakeUsage): Json {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached ?? 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0, audio_tokens: 0 },
  };
}

function finishOf(answer: FakeAnswer): string {
  return answer.finish ?? (answer.calls ? 'tool_calls' : 'stop');
}

/** A whole chat completion. */
export function chatDocument(answer: FakeAnswer, body: Json): Json {
  const count = typeof body.n === 'number' ? body.n : 1;
  const text = piecesOf(answer, body).join('');
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    refusal: answer.refusal ?? null,
    annotations: [],
    ...(answer.reasoning !== undefined && { reasoning_content: answer.reasoning }),
    ...(answer.calls && {
      tool_calls: answer.calls.map((call, index) => ({
        id: callIdOf(call, index),
        type: 'function',
        function: { name: call.name, arguments: argumentsOf(call) },
      })),
    }),
  };
  return {
    ...base,
    object: 'chat.completion',
    model: body.model,
    choices: Array.from({ length: count }, (_, index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: finishOf(answer),
    })),
    ...(answer.usage !== 'none' && { usage: chatUsage(answer.usage ?? defaultUsage) }),
    service_tier: 'default',
  };
}

/** The data of a chat stream's events, `[DONE]` included. */
export function chatChunks(answer: FakeAnswer, body: Json): string[] {
  const wantsUsage = (body.stream_options as Json | undefined)?.include_usage === true;
  const usage = answer.usage === 'none' ? undefined : chatUsage(answer.usage ?? defaultUsage);
  const { usageIn = 'own-chunk' } = answer;
  const chunks: Json[] = [];
  const head = { ...base, object: 'chat.completion.chunk', model: body.model, service_tier: 'default' };
  const tail = wantsUsage && usageIn === 'own-chunk' ? { usage: null } : {};
  const push = (delta: Json, finish: string | null = null, more: Json = {}) =>
    chunks.push({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...tail,
      ...more,
    });

  push({ role: 'assistant', content: answer.calls ? null : '', refusal: null });
  for (const piece of answer.reasoning?.match(/\s*\S+\s*/g) ?? []) push({ reasoning_content: piece });
  for (const content of piecesOf(answer, body)) push({ content });
  if (answer.refusal !== undefined) push({ refusal: answer.refusal });
  for (const delta of callDeltas(answer)) push({ tool_calls: [delta] });
  const lastUsage: Json =
    usage === undefined || usageIn === 'own-chunk'
      ? {}
      : usageIn === 'x_groq'
        ? { x_groq: { usage } }
        : { usage };
  push({}, finishOf(answer), lastUsage);
  if (wantsUsage && usage !== undefined && usageIn === 'own-chunk')
    chunks.push({ ...head, choices: [], usage });
  return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'];
}

/** The starts of all calls followed by their arguments in halves, call by call; or each call as a whole. */
function callDeltas({ calls = [], callsInterleave = true }: FakeAnswer): Json[] {
  const heads = calls.map((call, index) => ({
    index,
    id: callIdOf(call, index),
    type: 'function',
    function: { name: call.name, arguments: '' },
  }));
  const pieces = (from: (text: string) => string) =>
    calls.flatMap((call, index) => {
      const text = from(argumentsOf(call));
      return text === '' ? [] : [{ index, function: { arguments: text } }];
    });
  const deltas = [
    ...heads,
    ...pieces((text) => text.slice(0, Math.ceil(text.length / 2))),
    ...pieces((text) => text.slice(Math.ceil(text.length / 2))),
  ];
  return callsInterleave ? deltas : deltas.sort((one, other) => Number(one.index) - Number(other.index));
}
