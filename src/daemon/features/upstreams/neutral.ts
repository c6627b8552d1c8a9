/**
 * The neutral form of a model call. Every client format is parsed into it, and every provider request is built from it.
 * Input items follow the Responses format, the richest of the formats.
 */
import type { ApiError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/json/json-object.ts';
import type { NanoUsd, Tokens } from '../../../shared/money/money.ts';

/** The formats of generated answers: OpenAI's Responses and chat completions, and Anthropic's Messages. */
export type Wire = 'responses' | 'chat' | 'messages';

/** The format of a call. */
export type CallFormat = Wire | 'embeddings';

export interface Inference {
  /** The caller's format. */
  wire: CallFormat;
  /** The model name in the request. */
  model: string;
  stream: boolean;
  items: InputItem[];
  instructions: string | undefined;
  tools: Tool[];
  toolChoice: ToolChoice | undefined;
  parallelToolCalls: boolean | undefined;
  format: OutputFormat | undefined;
  verbosity: 'low' | 'medium' | 'high' | undefined;
  /** The caller's limit on output tokens. */
  outputTokensMax: number | undefined;
  /** Set when the caller wants no answer: the call only fills the prompt cache of a provider with the same format. */
  wantsNoAnswer?: true;
  sampling: Sampling;
  reasoning: { effort: string | undefined; summary: string | undefined } | undefined;
  /** The common properties of `namespace` tools, by namespace. */
  namespaces?: Readonly<Record<string, string>>;
  /** Set on a call for embeddings, which has no items. */
  embedding?: EmbeddingRequest;
  /** The request body without `service`. A provider with the same format gets it almost unchanged. */
  body: Record<string, unknown>;
  /** How many messages of a thread `body.messages` has before the caller's own. */
  earlierMessages?: number;
  /** Request headers for providers with the same format, in lower case: the version and betas of the Messages API. */
  headers?: Readonly<Record<string, string>>;
  /** The error for members of `body` that no other format can express; undefined if there are none. */
  untranslatable?: (inference: Inference) => ApiError | undefined;
}

/** A call for embeddings: one vector per input. */
export interface EmbeddingRequest {
  /** At least one. */
  inputs: readonly EmbeddingInput[];
  /** The length of the vectors; undefined for the model's default. */
  dimensions: number | undefined;
}

/** A text, or a text as tokens of the model's vocabulary. */
export type EmbeddingInput = string | readonly number[];

export interface Sampling {
  temperature?: number;
  topP?: number;
  topK?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  stop?: string[];
  seed?: number;
  /** Requests log probabilities with this many alternatives. */
  topLogprobs?: number;
  /** Whether an answer without log probabilities is of no use: also a provider that may refuse them is then asked. */
  needsLogprobs?: true;
}

export type InputItem = MessageItem | FunctionCallItem | FunctionOutputItem | ReasoningItem | OpaqueItem;

/** An item that only providers of its own format may understand. It is not sent to other providers. */
export interface OpaqueItem {
  type: 'opaque';
  /** The format of `json`. */
  wire: Wire;
  json: Record<string, unknown>;
  /** Its path in the request. */
  param?: string;
  /** The path of the value that is unknown here; the item's type by default. */
  unknown?: string;
  /**
   * Set when the item holds a part of the conversation that its provider sealed, so that it must not be left out. The
   * value is its path in the request.
   */
  mustReach?: string;
  /** What it is for providers with another format; undefined if they have nothing like it. */
  elsewhere?: OtherFormats;
}

/** An item that only one format has, in terms that all have. */
export interface OtherFormats {
  items: InputItem[];
  /** The tools that it declares; also among the tools of the call. */
  tools?: Tool[];
  /** The common properties of `namespace` tools, by namespace. */
  namespaces?: Readonly<Record<string, string>>;
  /** The name of the tool that the model cannot use from here on; false if it can again. */
  removes?: { name: string; isBack: boolean };
}

/** Whether an item holds a summary that a provider sealed and that only this provider can read. */
export function isProviderSealed(item: InputItem): item is OpaqueItem & { mustReach: string } {
  return item.type === 'opaque' && item.mustReach !== undefined;
}

/** Whether an item is a call that its provider made to an MCP server, together with the output. */
export function isMcpCall({ json }: OpaqueItem): boolean {
  return json.type === 'mcp_call' && typeof json.name === 'string';
}

/** What an item that only one format has is in others; undefined for other items, or if they have nothing like it. */
export function elsewhereOf(item: InputItem): OtherFormats | undefined {
  return item.type === 'opaque' ? item.elsewhere : undefined;
}

/** The id of the call that an item is, also one of a type that only some providers have. */
export function calledBy(item: InputItem): string | undefined {
  if (item.type === 'function_call') return item.callId;
  return item.type === 'opaque' ? callIn(item.json, '_call') : undefined;
}

/** The id of the call that an item is, or is the output of, if its type ends like this. */
export function callIn(
  { type, call_id: callId }: OpaqueItem['json'],
  ...endings: string[]
): string | undefined {
  const isEnd = typeof type === 'string' && endings.some((ending) => type.endsWith(ending));
  return isEnd && typeof callId === 'string' ? callId : undefined;
}

/** Where a provider that caches prompts on request is to cache what comes before. */
export interface CacheMark {
  /** Anthropic's `cache_control`, which clients of other formats send, too. */
  cacheControl?: { type: 'ephemeral'; ttl?: string };
}

/**
 * The mark of a message, block, part or tool: `cache_control`, as Anthropic, OpenRouter, LiteLLM and the AI SDK define it, or
 * `prompt_cache_breakpoint`, as OpenAI does.
 */
export function cacheMarkIn(...places: Record<string, unknown>[]): CacheMark | undefined {
  for (const { cache_control: control, prompt_cache_breakpoint: breakpoint } of places) {
    if (isObject(control) && control.type === 'ephemeral') return cacheMark(control.ttl);
    if (isObject(breakpoint)) return cacheMark(undefined);
  }
  return undefined;
}

/** A mark with the lifetime that a caller names. */
export function cacheMark(ttl: unknown): Required<CacheMark> {
  return { cacheControl: typeof ttl === 'string' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' } };
}

export interface MessageItem extends CacheMark {
  type: 'message';
  role: 'user' | 'system' | 'developer' | 'assistant';
  content: ContentPart[];
  /** On assistant messages: `commentary` or `final_answer`. */
  phase?: string;
  id?: string;
  /** Set when the message is a model-written summary of the earlier conversation. */
  isSummary?: true;
  json?: CallersItem;
}

/** An item as the caller wrote it in the Responses format, for providers with this format. */
type CallersItem = Record<string, unknown>;

const noParts: readonly ContentPart[] = [];

/** The parts of a message, an output, or of what an item is for providers with another format. */
export function partsOf(item: InputItem): readonly ContentPart[] {
  switch (item.type) {
    case 'message':
      return item.content;
    case 'function_call_output':
      return item.output;
    case 'opaque':
      return item.elsewhere ? item.elsewhere.items.flatMap(partsOf) : noParts;
    default:
      return noParts;
  }
}

/** A tool as a call names it. */
export interface ToolName {
  name: string;
  /** The group that contains the tool, such as an MCP server. */
  namespace?: string;
  /** Set for a custom tool, whose input is plain text instead of JSON. */
  custom?: true;
  /** Set for a tool of the Responses format that the caller runs. */
  builtin?: BuiltinTool;
}

/** Tools that the Responses format defines and the caller runs. */
export type BuiltinTool = 'tool_search' | 'shell' | 'local_shell' | 'apply_patch';

/** A tool's name as one text. Names contain no dots, so that of a tool of the format starts with one. */
export function toolKey({ name, namespace, builtin }: ToolName): string {
  if (builtin !== undefined) return `.${builtin}`;
  return namespace === undefined ? name : `${namespace}.${name}`;
}

export interface FunctionCallItem extends ToolName, CacheMark {
  type: 'function_call';
  callId: string;
  /** JSON text as the model wrote it, `{}` for a call without arguments; for a custom tool, its input. */
  arguments: string;
  id?: string;
  json?: CallersItem;
}

export interface FunctionOutputItem extends CacheMark {
  type: 'function_call_output';
  callId: string;
  output: ContentPart[];
  /** Set for the output of a custom tool. */
  custom?: true;
  /** Set when the tool failed; the output is the error. */
  isError?: true;
  json?: CallersItem;
}

/** Earlier reasoning of a model. `origin` is what its provider needs to accept it again, if it was sealed here. */
export interface ReasoningItem {
  type: 'reasoning';
  summary: string[];
  origin: ReasoningOrigin | undefined;
  id?: string;
}

/**
 * The part of its own reasoning that a provider needs to see again, such as signatures or redacted data. Only that
 * provider and model can use it, so it must never be sent to another one.
 */
export interface ReasoningOrigin {
  provider: string;
  model: string;
  /** Defined by the provider's adapter. */
  payload: unknown;
}

export type ContentPart =
  | ({ type: 'text'; text: string } & CacheMark)
  | ({ type: 'refusal'; refusal: string } & CacheMark)
  /** `url` is `data:` or `http(s):`; empty for an upload. */
  | ({ type: 'image'; url: string; detail?: string; upload?: Upload } & CacheMark)
  /** One of `data` (a data: URL or base64), `url` and `upload`. */
  | ({ type: 'file'; filename?: string; data?: string; url?: string; upload?: Upload } & CacheMark)
  | ({ type: 'audio'; data: string; format: string } & CacheMark);

/** A file that was uploaded to a provider. Only providers with the caller's format get such files. */
export interface Upload {
  id: string;
  /** The path of the id in the request. */
  param: string;
}

/** `isInItem`: an item of the conversation declares it. */
export type Tool =
  | ({
      type: 'function';
      name: string;
      namespace?: string;
      description: string | undefined;
      /** JSON Schema. */
      parameters: Record<string, unknown> | undefined;
      strict: boolean | undefined;
      /** Its path in the request. */
      param?: string;
      builtin?: BuiltinTool;
      /** The tool of the caller's format that it stands for. */
      json?: Record<string, unknown>;
      isInItem?: true;
    } & CacheMark)
  /** A tool that takes plain text. */
  | {
      type: 'custom';
      name: string;
      namespace?: string;
      description: string | undefined;
      /** The grammar of its input, if it is not any text. */
      grammar: { syntax: string; definition: string } | undefined;
      /** Its path in the request. */
      param?: string;
      isInItem?: true;
    }
  /** A tool that only providers with the caller's format may understand; `param` is its path in the request. */
  | { type: 'opaque'; json: Record<string, unknown>; param?: string; isInItem?: true };

export type ToolChoice =
  | { mode: 'none' | 'auto' | 'required' }
  /** Forces a function or a custom tool. */
  | { mode: 'function'; name: string; namespace?: string; custom?: true }
  /** `names`: see `toolKey`. */
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
 * Decoded from a provider's stream. `index` numbers the output items from 0 in the order in which they start. An item
 * starts before its deltas and ends before `finished`, which comes last; several items may be open at a time. A function
 * call without arguments needs no delta. Without a `usage` event, usage is estimated.
 */
export type InferenceEvent =
  | { type: 'item-started'; index: number; item: StartedItem }
  | { type: 'text'; index: number; delta: string; logprobs?: unknown[] }
  | { type: 'refusal'; index: number; delta: string }
  | { type: 'annotation'; index: number; annotation: Record<string, unknown> }
  /** Readable reasoning; `part` numbers the paragraphs of a summary from 0. */
  | { type: 'reasoning'; index: number; part: number; delta: string }
  /** Arguments of a function, or the input of a custom tool. */
  | { type: 'arguments'; index: number; delta: string }
  /** `origin` is set on reasoning that the provider needs to see again; `item` is the provider's complete item, if any. */
  | { type: 'item-done'; index: number; origin?: ReasoningOrigin; item?: Record<string, unknown> }
  /** The prompt's token count, reported early: it is used when the answer breaks off before `usage`. */
  | { type: 'prompt-counted'; tokens: Pick<Tokens, 'input' | 'cachedInput' | 'cacheWrite'> }
  /** A snapshot that replaces earlier `usage` events. */
  | { type: 'usage'; tokens: Tokens; billed?: Billed }
  /**
   * `providerReason`: the provider's word for the reason, where that says more. `servedModel`: the model that it says has answered. `stopSequence`: the caller's stop sequence
   * that ended the answer, where the provider reports it. `members`: what else the provider says, for callers of the Responses
   * format.
   */
  | {
      type: 'finished';
      reason: FinishReason;
      providerReason?: string;
      servedModel?: string;
      stopSequence?: string;
      members?: Record<string, unknown>;
    };

/** What a provider says of the cost of an answer. */
export interface Billed {
  /** What it charged. */
  cost?: NanoUsd;
  /** The service tier that it used, if that is not the standard one. */
  tier?: string;
}

export type StartedItem =
  | { kind: 'message'; id?: string }
  | { kind: 'reasoning'; id?: string }
  | ({ kind: 'function_call'; callId: string; id?: string } & ToolName)
  | { kind: 'opaque'; json: Record<string, unknown> };

/** A stop with function calls is `stop` too: renderers derive `tool_calls`. */
export type FinishReason = 'stop' | 'max_output_tokens' | 'content_filter';

/** One `data:` line of a provider that uses the caller's format, for renderers that pass it on. */
export interface RawFrame {
  /** The text of `json`: renderers pass on either. */
  raw: string;
  json: Record<string, unknown>;
  /**
   * The last frame without one of these, if this one says the same but for the text of its delta, which is not empty, its number and its
   * padding.
   */
  like?: RawFrame;
}

/**
 * The events of one read from a provider. Batches, not events, travel through the pipeline: an asynchronous hop per event
 * would cost more than all other work on it.
 */
export interface Batch {
  events: InferenceEvent[];
  /** Set by providers with a known wire format; renderers of the same format use it instead of `events`. */
  frames: RawFrame[] | undefined;
}
