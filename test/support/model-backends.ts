import OpenAI from 'openai';
import { afterAll, beforeEach } from 'vitest';
import { anthropicBackends } from './backends/anthropic.ts';
import type { Backend, ScriptedError, ScriptedReply } from './backends/backend.ts';
import { googleBackends } from './backends/google.ts';
import { openaiBackends } from './backends/openai.ts';
import { simulator } from './backends/simulator.ts';
import { type RunningDaemon, startDaemon } from './start-daemon.ts';

export type { ScriptedReply } from './backends/backend.ts';

/** All providers with a format of their own. The end-to-end tests of both formats run against each of them. */
const providers = { openai: openaiBackends, anthropic: anthropicBackends, google: googleBackends };

type Providers = typeof providers;
export type ProviderName = { [P in keyof Providers]: keyof Providers[P]['backends'] }[keyof Providers];
export type BackendName = 'simulator' | ProviderName;

/** Everything that can answer a call: the simulator, and each provider format behind a real socket. */
const all = Object.assign(
  { simulator },
  ...Object.values(providers).map(({ backends }) => backends),
) as Record<BackendName, Backend>;
export const backendNames = Object.keys(all) as BackendName[];
export const providerNames = backendNames.filter((name): name is ProviderName => name !== 'simulator');
export const backend = (name: BackendName): Backend => all[name];
export const keys = Object.assign({}, ...Object.values(providers).map(({ env }) => env)) as Record<
  'OPENAI_API_KEY' | 'ANTHROPIC_API_KEY' | 'GEMINI_API_KEY',
  string
>;

type Fakes = { [P in keyof Providers]: Awaited<ReturnType<Providers[P]['start']>>['fake'] };

export interface Backends extends Fakes {
  daemon: RunningDaemon;
  /** Scripts the next answers of a backend; returns the model to call. */
  script(name: BackendName, ...replies: ScriptedReply[]): string;
  /** Has the provider reject the next call; returns the model to call. */
  refuse(name: ProviderName, error: ScriptedError): string;
  /** The bodies that a provider was sent. */
  bodiesOf(name: ProviderName): Record<string, unknown>[];
  lastBody(name: ProviderName): Record<string, unknown>;
  /** Call before a client disconnects: the returned promise resolves once the provider has lost a reader. */
  watchDisconnect(name: BackendName): () => Promise<void>;
  /** Forgets all requests and scripts so far. */
  forget(): void;
  close(): Promise<void>;
}

/** One daemon with all backends. `more` is further text for its configuration. */
export async function startBackends(more = ''): Promise<Backends> {
  const started = await Promise.all(
    Object.entries(providers).map(async ([name, { backends, start }]) => ({
      name,
      backends,
      server: await start(),
    })),
  );
  const configs = started.map(({ server }) => server.config);
  const config = `
providers:
${configs.map((each) => `  ${each.providers ?? ''}`).join('\n')}
upstreams: [${configs.flatMap((each) => each.upstreams ?? []).join(', ')}]
${more}`;
  const daemon = await startDaemon({ config, env: keys });
  const serverOf = (name: ProviderName) => {
    const found = started.find(({ backends }) => name in backends);
    if (!found) throw new Error(`no provider has the backend ${name}`);
    return found.server;
  };
  const script = (name: BackendName, ...replies: ScriptedReply[]) => {
    if (name !== 'simulator') for (const reply of replies) serverOf(name).script(reply);
    const { model } = all[name];
    return typeof model === 'string' ? model : model(replies[0] ?? {});
  };
  const bodiesOf = (name: ProviderName) => serverOf(name).requests.map(({ body = {} }) => body);
  const fakes = Object.fromEntries(
    started.map(({ name, server }) => [name, server.fake]),
  ) as unknown as Fakes;
  return {
    ...fakes,
    daemon,
    script,
    refuse(name, error) {
      serverOf(name).refuse(error);
      return script(name);
    },
    bodiesOf,
    lastBody: (name) => bodiesOf(name).at(-1) ?? {},
    watchDisconnect: (name) => (name === 'simulator' ? async () => {} : serverOf(name).watchDisconnect()),
    forget() {
      for (const { server } of started) server.forget();
    },
    close: async () => {
      await daemon.stop();
      await Promise.all(started.map(({ server }) => server.close()));
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

/** Asks a model for two calls of tools at once; `bothCalls` is the reply. */
export const askBoth = 'Use both tools, weather and clock, in parallel.';
export const bothCalls = {
  calls: [
    { name: 'weather', input: { city: 'Oslo' } },
    { name: 'clock', input: { city: 'Rome' } },
  ],
};
