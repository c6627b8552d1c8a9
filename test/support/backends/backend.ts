import type { Wire } from '../../../src/daemon/features/upstreams/neutral.ts';
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

/** An error that a provider answers with, in its own format. */
export interface ScriptedError {
  status: number;
  headers?: Record<string, string>;
  message?: string;
  param?: string;
  code?: string;
}

/** A model behind one provider format, and what the end-to-end tests need to know of it. */
export interface Backend {
  /** The model to call; the simulator has one for each way to fail. */
  model: string | ((reply: ScriptedReply) => string);
  /** Another model of the same provider. */
  otherModel: string;
  /** An embedding model, if the provider has any. */
  embeddingModel?: string;
  /** The formats that are relayed to it without translation. */
  relays: readonly Wire[];
  /** A refusal is a message, a message that ends the answer early, or a blocked prompt without an answer. */
  refusal: 'message' | 'ending' | 'blocked';
  /** Whether its errors name the parameter at fault. */
  namesParameters: boolean;
  /** The error code of an answer that breaks off by an error: the provider's own, if it has one. */
  brokenCode: string;
  /** Asserts that the request holds the reasoning, in front of the call that it led to. */
  expectReasoning(body: Record<string, unknown>, reasoning: string): void;
}

/** The fake of a provider while it runs. */
export interface FakeProvider<Fake> {
  /** The fake itself, for tests of its particular format. */
  fake: Fake;
  /** Its entries in the configuration. */
  config: { providers?: string; upstreams?: string[] };
  /** Its requests so far, in order. */
  requests: { body?: Record<string, unknown> | undefined }[];
  script(reply: ScriptedReply): void;
  refuse(error: ScriptedError): void;
  /** Call before a client disconnects: the returned promise resolves once the provider has lost a reader. */
  watchDisconnect(): () => Promise<void>;
  forget(): void;
  close(): Promise<void>;
}

/** A provider that the end-to-end tests run against: one backend, or several behind the same server. */
export interface ProviderBackends<Name extends string, Fake> {
  /** The variable of its key, and the key. */
  env: Record<string, string>;
  backends: Record<Name, Backend>;
  start(): Promise<FakeProvider<Fake>>;
}
