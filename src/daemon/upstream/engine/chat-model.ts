import { randomUUID } from 'node:crypto';
import {
  argumentsText,
  conversationOf,
  forcedCallIn,
  forcedCallOf,
  functionsIn,
  noteOfForcedCall,
} from './chat-request.ts';
import type {
  ChatFunctions,
  ChatItem,
  ChatWrapper,
  GenerateOptions,
  Grammar,
  Llama,
  LlamaLibrary,
  LlamaModel,
  Sequence,
} from './llama.ts';
import { type Reply, RequestFault } from './reply.ts';

type Body = Record<string, unknown>;

/** Conversations that are answered at the same time. */
const parallelChats = 2;
/** Without a temperature: the library's advice between always the same and often wrong. */
const usualTemperature = 0.8;

interface ChatModelParts {
  llamaCpp: LlamaLibrary;
  llama: Llama;
  model: LlamaModel;
  sequences: Sequence[];
}

/** Answers chat completions with a model's own chat template. */
export class ChatModel {
  readonly #parts: ChatModelParts;
  readonly #wrapper: ChatWrapper;
  readonly #waiting: (() => void)[] = [];

  constructor(parts: ChatModelParts) {
    this.#parts = parts;
    this.#wrapper = parts.llamaCpp.resolveChatWrapper(parts.model);
  }

  static async create(
    parts: Omit<ChatModelParts, 'sequences'> & { contextSize: { max: number } },
  ): Promise<ChatModel> {
    const { contextSize, ...others } = parts;
    const context = await parts.model.createContext({ contextSize, sequences: parallelChats });
    const sequences = Array.from({ length: parallelChats }, () => context.getSequence());
    return new ChatModel({ ...others, sequences });
  }

  /** Writes a completion, or a stream of its chunks. Rejects with a `RequestFault` for what a model here cannot do. */
  async complete(body: Body, reply: Reply, signal: AbortSignal): Promise<void> {
    refuseUnsupported(body);
    const functions = functionsIn(body);
    const forced = forcedCallIn(body, functions);
    const grammar = forced
      ? await this.#grammar(forced, 'tools')
      : await this.#formatOf(body, functions !== undefined);
    const history: ChatItem[] = [
      ...(forced && functions ? [noteOfForcedCall(functions)] : []),
      ...conversationOf(body),
    ];
    const free = forced ? undefined : functions;
    const sequence = await this.#freeSequence(signal);
    try {
      const promptTokens = this.#countPrompt(history, free);
      const room = sequence.contextSize - promptTokens - 1;
      if (room < 1) {
        const message = `The prompt is too long: it has ${promptTokens} tokens, more than the ${sequence.contextSize} of the model's context.`;
        throw new RequestFault('context_length_exceeded', message, 'messages');
      }
      const writer = new CompletionWriter(body, reply, forced !== undefined);
      const options = {
        ...samplingOf(body),
        signal,
        maxTokens: Math.min(room, limitOf(body) ?? room),
        onResponseChunk: (chunk) => writer.chunk(chunk),
        ...(grammar && { grammar }),
        ...(free && {
          functions: free,
          maxParallelFunctionCalls: body.parallel_tool_calls === false ? 1 : undefined,
          onFunctionCallParamsChunk: ({ paramsChunk }) => writer.argumentsChunk(paramsChunk),
          onFunctionCall: (call) => writer.call(call.functionName, call.params),
        }),
      } satisfies GenerateOptions;
      const before = sequence.tokenMeter.getState();
      const stopReason = await this.#generate(sequence, history, options);
      const after = sequence.tokenMeter.getState();
      writer.end(stopReason, {
        promptTokens,
        cachedTokens: Math.max(0, promptTokens - (after.usedInputTokens - before.usedInputTokens)),
        outputTokens: after.usedOutputTokens - before.usedOutputTokens,
      });
    } finally {
      this.#parts.sequences.push(sequence);
      this.#waiting.shift()?.();
    }
  }

  async #generate(
    sequence: Sequence,
    history: readonly ChatItem[],
    options: GenerateOptions,
  ): Promise<string> {
    const chat = new this.#parts.llamaCpp.LlamaChat({
      contextSequence: sequence,
      chatWrapper: this.#wrapper,
    });
    try {
      const { metadata } = await chat.generateResponse(history, options);
      return metadata.stopReason;
    } finally {
      chat.dispose();
    }
  }

  /** The sequence used last, whose beginning may be that of this conversation. */
  async #freeSequence(signal: AbortSignal): Promise<Sequence> {
    for (;;) {
      signal.throwIfAborted();
      const sequence = this.#parts.sequences.pop();
      if (sequence) return sequence;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #countPrompt(chatHistory: readonly ChatItem[], availableFunctions: ChatFunctions | undefined): number {
    const last = chatHistory.at(-1);
    const withAnswer: ChatItem[] =
      last?.type === 'model' ? [...chatHistory] : [...chatHistory, { type: 'model', response: [] }];
    const { contextText } = this.#wrapper.generateContextState({
      chatHistory: withAnswer,
      availableFunctions,
    });
    return contextText.tokenize(this.#parts.model.tokenizer, 'trimLeadingSpace').length;
  }

  async #formatOf({ response_format: format }: Body, hasFunctions: boolean): Promise<Grammar | undefined> {
    const { type, json_schema: named } = (format ?? {}) as {
      type?: string;
      json_schema?: { schema?: object };
    };
    if (type === undefined || type === 'text') return undefined;
    if (hasFunctions) {
      const message = 'A local model cannot combine tools with a response format.';
      throw new RequestFault('unsupported_value', message, 'response_format');
    }
    if (named?.schema) return await this.#grammar(named.schema, 'response_format');
    return await this.#parts.llama.getGrammarFor('json');
  }

  #grammar(schema: object, param: string): Promise<Grammar> {
    return this.#parts.llama.createGrammarForJsonSchema(schema).catch((error: Error) => {
      throw new RequestFault(
        'unsupported_value',
        `The schema cannot be enforced for a local model: ${error.message}`,
        param,
      );
    });
  }
}

function refuseUnsupported({ n, logprobs }: Body): void {
  if (typeof n === 'number' && n > 1)
    throw new RequestFault('unsupported_value', 'A local model gives one choice.', 'n');
  if (logprobs === true)
    throw new RequestFault('unsupported_value', 'A local model does not support logprobs.', 'logprobs');
}

const numberIn = (value: unknown) => (typeof value === 'number' ? value : undefined);

function limitOf({ max_completion_tokens: most, max_tokens: older }: Body): number | undefined {
  return numberIn(most) ?? numberIn(older);
}

function samplingOf(body: Body) {
  const { stop, frequency_penalty: frequency, presence_penalty: presence } = body;
  const stops = typeof stop === 'string' ? [stop] : Array.isArray(stop) ? stop.map(String) : [];
  const penalties = {
    frequencyPenalty: numberIn(frequency) ?? 0,
    presencePenalty: numberIn(presence) ?? 0,
  };
  const hasPenalty = penalties.frequencyPenalty !== 0 || penalties.presencePenalty !== 0;
  return {
    temperature: numberIn(body.temperature) ?? usualTemperature,
    topP: numberIn(body.top_p),
    topK: numberIn(body.top_k),
    minP: numberIn(body.min_p),
    seed: numberIn(body.seed),
    ...(stops.length > 0 && { customStopTriggers: stops }),
    repeatPenalty: hasPenalty ? ({ penalty: 1, ...penalties } as const) : (false as const),
  };
}

interface Usage {
  promptTokens: number;
  cachedTokens: number;
  outputTokens: number;
}

interface ToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

/** Writes what the model generates in OpenAI's chat format. */
class CompletionWriter {
  readonly #reply: Reply;
  readonly #isStreamed: boolean;
  readonly #withUsage: boolean;
  /** Whether the text is a function call, as a grammar forces it. */
  readonly #isForcedCall: boolean;
  readonly #common: { id: string; created: number; model: string };
  readonly #calls: ToolCall[] = [];
  #arguments = '';
  #text = '';
  #reasoning = '';
  #hasStarted = false;

  constructor(body: Body, reply: Reply, isForcedCall: boolean) {
    this.#reply = reply;
    this.#isStreamed = body.stream === true;
    this.#withUsage = (body.stream_options as Body | undefined)?.include_usage === true;
    this.#isForcedCall = isForcedCall;
    this.#common = {
      id: `chatcmpl-${randomUUID()}`,
      created: Math.floor(Date.now() / 1000),
      model: String(body.model ?? ''),
    };
  }

  chunk({ type, segmentType, text }: { type?: 'segment'; segmentType?: string; text: string }): void {
    if (text === '') return;
    if (type === 'segment') {
      if (segmentType !== 'thought') return;
      this.#reasoning += text;
      this.#delta({ reasoning_content: text });
      return;
    }
    this.#text += text;
    if (!this.#isForcedCall) this.#delta({ content: text });
  }

  /** A part of the arguments of the call that is being generated. */
  argumentsChunk(text: string): void {
    this.#arguments += text;
  }

  call(name: string, params: unknown): void {
    const written = argumentsText(this.#arguments, params);
    this.#arguments = '';
    this.#call(name, written);
  }

  #call(name: string, written: string): void {
    const index = this.#calls.length;
    const call: ToolCall = {
      id: `call_${randomUUID().replaceAll('-', '')}`,
      type: 'function',
      function: { name, arguments: written },
    };
    this.#calls.push(call);
    this.#delta({ tool_calls: [{ index, ...call }] });
  }

  end(stopReason: string, usage: Usage): void {
    const isCut = stopReason === 'maxTokens';
    if (this.#isForcedCall) this.#readForcedCall(isCut);
    const finish = isCut ? 'length' : this.#calls.length > 0 ? 'tool_calls' : 'stop';
    const counts = {
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.outputTokens,
      total_tokens: usage.promptTokens + usage.outputTokens,
      prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    };
    if (this.#isStreamed) {
      this.#delta({}, finish);
      if (this.#withUsage) this.#write({ choices: [], usage: counts });
      this.#reply.data('data: [DONE]\n\n');
      return;
    }
    const message = {
      role: 'assistant',
      content: this.#isForcedCall ? null : this.#text,
      ...(this.#reasoning !== '' && { reasoning_content: this.#reasoning }),
      ...(this.#calls.length > 0 && { tool_calls: this.#calls }),
    };
    this.#reply.head(200, 'application/json');
    this.#reply.data(
      JSON.stringify({
        ...this.#common,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: finish, logprobs: null }],
        usage: counts,
      }),
    );
  }

  #readForcedCall(isCut: boolean): void {
    try {
      const { name, arguments: written } = forcedCallOf(this.#text);
      this.#call(name, written);
    } catch (error) {
      if (!isCut) throw error;
    }
  }

  #delta(delta: object, finish: string | null = null): void {
    if (!this.#isStreamed) return;
    const role = this.#hasStarted ? {} : { role: 'assistant' };
    this.#write({ choices: [{ index: 0, delta: { ...role, ...delta }, finish_reason: finish }] });
  }

  #write(chunk: object): void {
    if (!this.#hasStarted) this.#reply.head(200, 'text/event-stream');
    this.#hasStarted = true;
    const whole = { ...this.#common, object: 'chat.completion.chunk', ...chunk };
    this.#reply.data(`data: ${JSON.stringify(whole)}\n\n`);
  }
}
