import { createHmac } from 'node:crypto';
import { type GeminiRefusal, refusalOf } from './fake-gemini-rules.ts';
import { fakeVector } from './fake-vector.ts';
import {
  type Interruption,
  type Json,
  type ProviderReply,
  pieces,
  type ReceivedRequest,
  type ScriptedProvider,
  startScriptedProvider,
} from './scripted-provider.ts';

export type GeminiPart =
  | { text: string }
  | { thought: string }
  /** Base64 of a PNG. */
  | { picture: string }
  /** Without `args` the call has no arguments; without `id` it has no id, as with older models. */
  | { call: string; args?: Json; id?: string };

/** One scripted answer: an error status, a blocked prompt, or a stream of parts. */
export type GeminiAnswer =
  | { error: GeminiRefusal & { headers?: Record<string, string> } }
  | { blockReason: string }
  | {
      parts: GeminiPart[];
      /** `STOP` by default. */
      finishReason?: string;
      /** Sends `STOP` with every event, as old models do. */
      stopsEveryPiece?: boolean;
      usage?: Json;
      /**
       * Ends the stream early: with an `error` object in an event, with one as plain JSON after the last event (as an
       * overloaded provider does), or without an event.
       */
      interrupt?: { afterEvents: number; by: Interruption | 'error' | 'plain-error' };
    };

/** When the scripted answers are used up, calls are answered with `Hello from Gemini.` */
export type FakeGemini = ScriptedProvider<GeminiAnswer>;

export interface FakeGeminiOptions {
  /** The keys that are accepted; any by default. */
  keys?: string[];
  /** The models that exist; any by default. */
  models?: string[];
}

/** A fake of the Gemini API: it refuses what the real one refuses, and streams scripts. */
export function startFakeGemini(options: FakeGeminiOptions = {}): Promise<FakeGemini> {
  return startScriptedProvider((request, next) => replyTo(request, next, options), { path: '/v1beta' });
}

function replyTo(
  request: ReceivedRequest,
  next: () => GeminiAnswer | undefined,
  { keys, models }: FakeGeminiOptions,
): ProviderReply {
  const key = request.headers['x-goog-api-key'];
  if (typeof key !== 'string') {
    return refuse({
      status: 403,
      name: 'PERMISSION_DENIED',
      message: 'Method doesn’t allow unregistered callers.',
    });
  }
  if (keys && !keys.includes(key)) {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];
    const message = 'API key not valid. Please pass a valid API key.';
    return refuse({ status: 400, name: 'INVALID_ARGUMENT', message, details });
  }
  if (request.method === 'GET' && request.path.startsWith('/v1beta/models')) {
    const names = models ?? ['gemini-3.5-flash'];
    return {
      kind: 'document',
      status: 200,
      json: { models: names.map((name) => ({ name: `models/${name}` })) },
    };
  }
  const embedder = /^\/v1beta\/models\/([^/:]+):batchEmbedContents$/.exec(request.path)?.[1];
  if (request.method === 'POST' && embedder !== undefined) return embeddings(request.body, embedder, next());
  const model = /^\/v1beta\/models\/([^/:]+):streamGenerateContent\?alt=sse$/.exec(request.path)?.[1];
  if (request.method !== 'POST' || model === undefined || (models && !models.includes(model))) {
    const message = `models/${model} is not found for API version v1beta.`;
    return refuse({ status: 404, name: 'NOT_FOUND', message });
  }
  const refusal = refusalOf(request.body, model, (call) => sign(model, call));
  if (refusal) return refuse(refusal);
  const answer = next() ?? { parts: [{ text: 'Hello from Gemini.' }] };
  if ('error' in answer) return refuse(answer.error);
  if ('blockReason' in answer) {
    const { blockReason } = answer;
    const usageMetadata = { promptTokenCount: 9, totalTokenCount: 9 };
    return { kind: 'stream', events: [sse({ promptFeedback: { blockReason }, usageMetadata })] };
  }
  return stream(answer, model);
}

/** Source: the Gemini API reference, "batchEmbedContents". Vectors are only of unit length at full length. */
function embeddings(body: Json, model: string, answer: GeminiAnswer | undefined): ProviderReply {
  if (answer && 'error' in answer) return refuse(answer.error);
  const requests = (body.requests ?? []) as Json[];
  const fault = (message: string) => refuse({ status: 400, name: 'INVALID_ARGUMENT', message });
  if (requests.length === 0 || requests.length > 100)
    return fault('* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch\n');
  if (requests.some((request) => request.model !== `models/${model}`))
    return fault('The model in each request must match the model in the URL.');
  const bad = requests.findIndex(({ content }) => JSON.stringify(content).includes('"bad"'));
  if (bad >= 0)
    return fault(`* BatchEmbedContentsRequest.requests[${bad}].content: contents is not specified\n`);
  const embeddings = requests.map(({ content, outputDimensionality }) => {
    const [part] = (content as { parts: { text: string }[] }).parts;
    const vector = fakeVector(part?.text ?? '', Number(outputDimensionality ?? 8));
    return { values: outputDimensionality === undefined ? vector : vector.map((value) => value * 0.5) };
  });
  return {
    kind: 'document',
    status: 200,
    json: { embeddings, usageMetadata: { promptTokenCount: requests.length * 3 } },
  };
}

function refuse({
  status,
  name,
  message,
  details,
  headers,
}: GeminiRefusal & { headers?: Record<string, string> }) {
  const error = { code: status, message, status: name, ...(details && { details }) };
  return { kind: 'document', status, ...(headers && { headers }), json: { error } } satisfies ProviderReply;
}

/** A signature is only valid on its own call and for its own model. */
function sign(model: string, signed: string): string {
  return createHmac('sha256', `signs for ${model}`).update(signed).digest('base64');
}

function stream(script: Extract<GeminiAnswer, { parts: unknown }>, model: string): ProviderReply {
  const events = eventsOf(script, model);
  const { interrupt } = script;
  if (!interrupt) return { kind: 'stream', events };
  const sent = events.slice(0, interrupt.afterEvents);
  const { by } = interrupt;
  if (by === 'close' || by === 'reset' || by === 'stall') {
    return { kind: 'stream', events: sent, interruption: by };
  }
  const message = 'This model is currently experiencing high demand.';
  const error = { error: { code: 503, message, status: 'UNAVAILABLE' } };
  return { kind: 'stream', events: [...sent, by === 'error' ? sse(error) : JSON.stringify(error, null, 2)] };
}

/** Each event is a whole answer with a part of the content. Newer models sign; the last part is often empty. */
function eventsOf(script: Extract<GeminiAnswer, { parts: unknown }>, model: string): string[] {
  const signs = /gemini-[3-9]/.test(model);
  const counts: Json = { promptTokenCount: 11, candidatesTokenCount: 7, ...script.usage };
  const totalTokenCount = Object.entries(counts).reduce((sum, [name, count]) => {
    return /^(prompt|candidates|thoughts|toolUsePrompt)TokenCount$/.test(name) ? sum + Number(count) : sum;
  }, 0);
  const usage: Json = { totalTokenCount, ...counts };
  let isFirstCall = true;
  const parts: Json[] = script.parts.flatMap((part): Json[] => {
    if ('text' in part) return pieces(part.text).map((text) => ({ text }));
    if ('thought' in part) return pieces(part.thought).map((text) => ({ text, thought: true }));
    if ('picture' in part) {
      const inlineData = { mimeType: 'image/png', data: part.picture };
      return [{ inlineData, ...(signs && { thoughtSignature: sign(model, 'picture') }) }];
    }
    const functionCall = {
      name: part.call,
      ...(part.args && { args: part.args }),
      ...(part.id !== undefined && { id: part.id }),
    };
    const signature = signs && isFirstCall ? { thoughtSignature: sign(model, part.call) } : {};
    isFirstCall = false;
    return [{ functionCall, ...signature }];
  });
  const endsInText = parts.at(-1)?.text !== undefined;
  parts.push({ text: '', ...(signs && endsInText && { thoughtSignature: sign(model, 'text') }) });
  const finishReason = script.finishReason ?? 'STOP';
  return parts.map((part, at) => {
    const isLast = at === parts.length - 1;
    const reason = isLast ? finishReason : script.stopsEveryPiece ? 'STOP' : undefined;
    const candidate = { content: { role: 'model', parts: [part] }, finishReason: reason, index: 0 };
    const early = { promptTokenCount: usage.promptTokenCount, totalTokenCount: usage.promptTokenCount };
    return sse({ candidates: [candidate], usageMetadata: isLast ? usage : early, modelVersion: model });
  });
}

function sse(data: Json): string {
  return `data: ${JSON.stringify(data)}\r\n\r\n`;
}
