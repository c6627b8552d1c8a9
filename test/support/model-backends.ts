import OpenAI from 'openai';
import { afterAll, beforeEach } from 'vitest';
import { type FakeAnthropic, startFakeAnthropic } from './fake-anthropic.ts';
import { type FakeGemini, startFakeGemini } from './fake-gemini.ts';
import { type FakeAnswer, type FakeOpenAi, startFakeOpenAi } from './fake-openai.ts';
import { type RunningDaemon, startDaemon } from './start-daemon.ts';

/**
 * Everything that can answer a call: the simulator, and each provider format behind a real socket. The two
 * `…-only` backends force a translation between OpenAI's own two formats.
 */
export const backendNames = [
  'simulator',
  'openai',
  'chat-only',
  'responses-only',
  'anthropic',
  'google',
] as const;
export type BackendName = (typeof backendNames)[number];

/** The next answer of a model, independent of its provider's format. The simulator answers by its own rules. */
export interface ScriptedReply {
  reasoning?: string;
  text?: string;
  calls?: { name: string; input?: Record<string, unknown> }[];
  /** The pieces of parallel calls interleave if the format allows it. */
  interleaved?: boolean;
  refusal?: string;
  /** Cut by the token limit or by a filter. */
  finish?: 'length' | 'content_filter';
  /** Breaks off within the text: connection cut, error event, or stalled stream. */
  breaks?: 'cut' | 'error' | 'stall';
  /** After that many events of the provider's format; a few by default. */
  breaksAfter?: number;
}

export interface Backends {
  daemon: RunningDaemon;
  openai: FakeOpenAi;
  anthropic: FakeAnthropic;
  google: FakeGemini;
  /** Scripts the next answers of a backend; returns the model to call. */
  script(backend: BackendName, ...replies: ScriptedReply[]): string;
  /** The body that a provider was last sent. */
  lastBody(backend: Exclude<BackendName, 'simulator'>): Record<string, unknown>;
  /** Call before a client disconnects: the returned promise resolves once the provider has lost a reader. */
  watchDisconnect(backend: BackendName): () => Promise<void>;
  /** Forgets all requests and scripts so far. */
  forget(): void;
  close(): Promise<void>;
}

export const keys = { OPENAI_API_KEY: 'sk-openai', ANTHROPIC_API_KEY: 'sk-ant', GEMINI_API_KEY: 'AIza' };

const models: Record<BackendName, string> = {
  simulator: 'sim/assistant',
  openai: 'openai/gpt-5-mini',
  'chat-only': 'chat-only/fake',
  'responses-only': 'responses-only/gpt-5-fake',
  anthropic: 'anthropic/claude-sonnet-4-5',
  google: 'google/gemini-3.5-flash',
};

/** One daemon with all backends. `more` is further text for its configuration. */
export async function startBackends(more = ''): Promise<Backends> {
  const [openai, anthropic, google] = await Promise.all([
    startFakeOpenAi({ keys: [keys.OPENAI_API_KEY] }),
    startFakeAnthropic({ keys: [keys.ANTHROPIC_API_KEY] }),
    startFakeGemini({ keys: [keys.GEMINI_API_KEY] }),
  ]);
  const only = (wire: string) =>
    `{name: ${wire}-only, base_url: "${openai.baseUrl}", key_env: OPENAI_API_KEY, models: ["*"], wire: ${wire}, prices: {input: "1", output: "2"}}`;
  const config = `
providers:
  openai: {base_url: "${openai.baseUrl}"}
  anthropic: {base_url: "${anthropic.baseUrl}"}
  google: {base_url: "${google.baseUrl}"}
upstreams: [${only('chat')}, ${only('responses')}]
${more}`;
  const daemon = await startDaemon({ config, env: keys });
  return {
    daemon,
    openai,
    anthropic,
    google,
    script(backend, ...replies) {
      for (const reply of replies) {
        if (backend === 'anthropic') anthropic.answer(anthropicAnswer(reply));
        else if (backend === 'google') google.answer(geminiAnswer(reply));
        else if (backend !== 'simulator') openai.script(({ path }) => openAiAnswer(reply, path));
      }
      return backend === 'simulator' ? simulatorModel(replies[0] ?? {}) : models[backend];
    },
    lastBody(backend) {
      const fake = { anthropic, google }[backend as string] ?? openai;
      return fake.requests.at(-1)?.body ?? {};
    },
    watchDisconnect(backend) {
      const fake = { anthropic, google }[backend as string];
      const count = (fake?.dropped ?? 0) + 1;
      return async () => {
        if (fake) await fake.untilDropped(count);
        else if (backend !== 'simulator') await openai.idle();
      };
    },
    forget() {
      for (const fake of [openai, anthropic, google]) fake.forget();
    },
    close: async () => {
      await daemon.stop();
      await Promise.all([openai.close(), anthropic.close(), google.close()]);
    },
  };
}

/** Like `startBackends`, for all tests of the calling file: reset before each test, closed after the last. */
export async function backendsForThisFile(more = ''): Promise<Backends> {
  const backends = await startBackends(more);
  afterAll(() => backends.close());
  beforeEach(() => backends.forget());
  return backends;
}

/** OpenAI's SDK without retries. */
export function openAiAs({ url, key }: { url: string; key: string }): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
}

/** The simulator has a model for each way to fail. */
function simulatorModel({ refusal, finish, breaks }: ScriptedReply): string {
  if (refusal !== undefined) return 'sim/refuses';
  if (finish === 'content_filter') return 'sim/filtered';
  if (breaks === 'stall') return 'sim/slow';
  return breaks ? 'sim/broken' : models.simulator;
}

function openAiAnswer(reply: ScriptedReply, path: string): FakeAnswer {
  const { calls, interleaved = false, breaks, breaksAfter, ...same } = reply;
  const events = breaksAfter ?? (path.endsWith('/responses') ? 6 : 3);
  return {
    ...same,
    callsInterleave: interleaved,
    ...(calls && { calls: calls.map(({ name, input }) => ({ name, arguments: input ?? '' })) }),
    ...(breaks && { breakAfter: { events, by: breaks } }),
  };
}

function anthropicAnswer(reply: ScriptedReply): Parameters<FakeAnthropic['answer']>[0] {
  const { reasoning, text, calls = [], refusal, finish, breaks, breaksAfter = 5 } = reply;
  const by = { cut: 'reset', error: 'overloaded_error', stall: 'stall' } as const;
  return {
    blocks: [
      ...(reasoning === undefined ? [] : [{ thinking: reasoning }]),
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(({ name, input }) => ({ tool: name, ...(input && { input }) })),
    ],
    ...(finish === 'length' && { stopReason: 'max_tokens' }),
    ...(finish === 'content_filter' && { stopReason: 'refusal' }),
    ...(refusal !== undefined && { stopReason: 'refusal', explanation: refusal }),
    ...(breaks && { interrupt: { afterEvents: breaksAfter, by: by[breaks] } }),
  };
}

function geminiAnswer(reply: ScriptedReply): Parameters<FakeGemini['answer']>[0] {
  const { reasoning, text, calls = [], refusal, finish, breaks, breaksAfter = 2 } = reply;
  if (refusal !== undefined) return { blockReason: 'PROHIBITED_CONTENT' };
  const by = { cut: 'reset', error: 'error', stall: 'stall' } as const;
  return {
    parts: [
      ...(reasoning === undefined ? [] : [{ thought: reasoning }]),
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(({ name, input }) => ({ call: name, ...(input && { args: input }) })),
    ],
    ...(finish === 'length' && { finishReason: 'MAX_TOKENS' }),
    ...(finish === 'content_filter' && { finishReason: 'SAFETY' }),
    ...(breaks && { interrupt: { afterEvents: breaksAfter, by: by[breaks] } }),
  };
}
