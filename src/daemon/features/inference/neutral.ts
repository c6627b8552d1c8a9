/**
 * The neutral form of a model call: what every client format is parsed into and every provider's format is built from.
 * Input items follow the Responses format, which is the richest of them.
 */
import type { Tokens } from '../../../shared/money.ts';

/** The two formats that callers and OpenAI-compatible providers speak. */
export type Wire = 'responses' | 'chat';

export interface Inference {
  /** The caller's format. */
  wire: Wire;
  /** The model as the caller named it. */
  model: string;
  stream: boolean;
  items: InputItem[];
  instructions: string | undefined;
  tools: Tool[];
  toolChoice: ToolChoice | undefined;
  parallelToolCalls: boolean | undefined;
  format: OutputFormat | undefined;
  verbosity: 'low' | 'medium' | 'high' | undefined;
  /** Most output tokens that the caller asked for. */
  outputTokensMax: number | undefined;
  sampling: Sampling;
  reasoning: { effort: string | undefined; summary: string | undefined } | undefined;
  /** The caller's own body without `service`: a provider of the same format gets it with few changes. */
  body: Record<string, unknown>;
}

export interface Sampling {
  temperature?: number;
  topP?: number;
  topK?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  stop?: string[];
  seed?: number;
  /** Asks for log probabilities with this many alternatives. */
  topLogprobs?: number;
}

export type InputItem = MessageItem | FunctionCallItem | FunctionOutputItem | ReasoningItem | OpaqueItem;

/** What only a provider of the caller's own format may know; the others are not sent it. */
export interface OpaqueItem {
  type: 'opaque';
  json: Record<string, unknown>;
  /** Set on what cannot be left out, as the conversation would not be the same: its place in the caller's words. */
  mustReach?: string;
}

export interface MessageItem {
  type: 'message';
  role: 'user' | 'system' | 'developer' | 'assistant';
  content: ContentPart[];
  /** Of an assistant's message: `commentary` on the way, or the `final_answer`. */
  phase?: string;
  id?: string;
  /** Whether it is the summary of what came before, written by a model. */
  isSummary?: true;
}

export interface FunctionCallItem {
  type: 'function_call';
  callId: string;
  name: string;
  /** JSON text as the model wrote it; never empty: a call without arguments has `{}`. */
  arguments: string;
  id?: string;
}

export interface FunctionOutputItem {
  type: 'function_call_output';
  callId: string;
  output: ContentPart[];
}

/** A model's earlier thoughts. `origin` is what the provider needs to take them back, if they were sealed here. */
export interface ReasoningItem {
  type: 'reasoning';
  summary: string[];
  origin: ReasoningOrigin | undefined;
  id?: string;
}

/**
 * What a provider needs to see again of its own reasoning: signatures, redacted data. It is worth something to that
 * provider and model alone and must never be sent to another.
 */
export interface ReasoningOrigin {
  provider: string;
  model: string;
  /** The adapter's own shape. */
  payload: unknown;
}

export type ContentPart =
  | { type: 'text'; text: string }
  | { type: 'refusal'; refusal: string }
  /** `url` is `data:` or `http(s):`. */
  | { type: 'image'; url: string; detail?: string }
  /** Either `data` (a data: URL or base64) or `url`. */
  | { type: 'file'; filename?: string; data?: string; url?: string }
  | { type: 'audio'; data: string; format: string };

export type Tool =
  | {
      type: 'function';
      name: string;
      description: string | undefined;
      /** JSON Schema. */
      parameters: Record<string, unknown> | undefined;
      strict: boolean | undefined;
    }
  /** A tool that only a provider of the caller's own format may know. */
  | { type: 'opaque'; json: Record<string, unknown> };

export type ToolChoice =
  | { mode: 'none' | 'auto' | 'required' }
  | { mode: 'function'; name: string }
  | { mode: 'allowed'; names: string[]; required: boolean };

export type OutputFormat =
  | { type: 'json_object' }
  | {
      type: 'json_schema';
      name: string;
      description: string | undefined;
      schema: Record<string, unknown>;
      strict: boolean | undefined;
    };

// ---- the answer ----

/**
 * What a provider's stream is decoded into. `index` numbers the output items from 0 in the order they start. An item is
 * started before its deltas, and done before `finished`, which comes last; several may be open at a time. A call without
 * arguments needs no delta. Where no `usage` is told, what was delivered is estimated.
 */
export type InferenceEvent =
  | { type: 'item-started'; index: number; item: StartedItem }
  | { type: 'text'; index: number; delta: string; logprobs?: unknown[] }
  | { type: 'refusal'; index: number; delta: string }
  | { type: 'annotation'; index: number; annotation: Record<string, unknown> }
  /** Thoughts as readable text; `part` numbers the paragraphs of a summary from 0. */
  | { type: 'reasoning'; index: number; part: number; delta: string }
  | { type: 'arguments'; index: number; delta: string }
  /** `origin` is set on reasoning that the provider wants back; `item` is the whole item where the provider gave one. */
  | { type: 'item-done'; index: number; origin?: ReasoningOrigin; item?: Record<string, unknown> }
  /** What was read, told while the answer is still being written: it holds for answers that never come to their end. */
  | { type: 'prompt-counted'; tokens: Pick<Tokens, 'input' | 'cachedInput' | 'cacheWrite'> }
  /** A snapshot: it replaces what was told before. */
  | { type: 'usage'; tokens: Tokens }
  | { type: 'finished'; reason: FinishReason };

export type StartedItem =
  | { kind: 'message'; id?: string }
  | { kind: 'reasoning'; id?: string }
  | { kind: 'function_call'; callId: string; name: string; id?: string }
  | { kind: 'opaque'; json: Record<string, unknown> };

/** Why a model stopped. A stop with function calls is still `stop`: renderers derive `tool_calls`. */
export type FinishReason = 'stop' | 'max_output_tokens' | 'content_filter';

/** One `data:` line of a provider that speaks the caller's format, for renderers that pass it on. */
export interface RawFrame {
  /** The JSON text as it came. */
  raw: string;
  json: Record<string, unknown>;
}

/**
 * What one read from a provider held. The batch, not the event, travels through the pipe: an asynchronous hop an event
 * costs more than all other work on it.
 */
export interface Batch {
  events: InferenceEvent[];
  /** Set by providers of a known wire; renderers of the same wire use it instead of `events`. */
  frames: RawFrame[] | undefined;
}
