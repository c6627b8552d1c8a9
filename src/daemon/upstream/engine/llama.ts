/**
 * The parts of node-llama-cpp that a model's process uses. The library is optional and installed on demand, so that its own
 * types are not at hand. Source: the type declarations of version 3.22.
 */
export interface LlamaLibrary {
  getLlama(options: {
    gpu: 'auto';
    build: 'never';
    logLevel: 'error';
    progressLogs: false;
    maxThreads: number;
  }): Promise<Llama>;
  resolveChatWrapper(model: LlamaModel): ChatWrapper;
  LlamaChat: new (options: { contextSequence: Sequence; chatWrapper: ChatWrapper }) => LlamaChat;
}

export interface Llama {
  loadModel(options: { modelPath: string }): Promise<LlamaModel>;
  createGrammarForJsonSchema(schema: object): Promise<Grammar>;
  getGrammarFor(type: 'json'): Promise<Grammar>;
}

export interface Grammar {
  readonly rootRuleName?: string;
}

export interface LlamaModel {
  readonly trainContextSize: number;
  readonly tokenizer: unknown;
  readonly fileInfo: { metadata: { general: { architecture: string } } };
  createContext(options: ContextOptions & { sequences: number }): Promise<Context>;
  createDecisionContext(options: ContextOptions & { parallelQuestions: number }): Promise<DecisionContext>;
}

interface ContextOptions {
  contextSize: { max: number };
}

export interface DecisionContext {
  decideWithMeta(
    document: string,
    questions: Record<
      string,
      { type: 'choice'; instruction: string; criteria: Record<string, string | null> }
    >,
    options: { signal: AbortSignal },
  ): Promise<{
    answers: Record<string, { probabilities: Record<string, number> }>;
    tokenUsage: { input: number; output: number };
  }>;
}

export interface Context {
  readonly contextSize: number;
  getSequence(): Sequence;
}

export interface Sequence {
  readonly contextSize: number;
  readonly contextTokens: readonly unknown[];
  readonly tokenMeter: { getState(): { usedInputTokens: number; usedOutputTokens: number } };
}

export interface ChatWrapper {
  generateContextState(options: {
    chatHistory: readonly ChatItem[];
    availableFunctions?: ChatFunctions | undefined;
  }): { contextText: { tokenize(tokenizer: unknown, options: 'trimLeadingSpace'): unknown[] } };
}

/** A turn of a conversation. */
export type ChatItem =
  | { type: 'system' | 'user'; text: string }
  | { type: 'model'; response: (string | FunctionCallItem)[] };

export interface FunctionCallItem {
  type: 'functionCall';
  name: string;
  params: unknown;
  result: unknown;
  /** Whether the call does not belong to the calls before it. */
  startsNewChunk: boolean;
}

export type ChatFunctions = Record<string, { description?: string; params?: object }>;

export interface LlamaChat {
  generateResponse(history: readonly ChatItem[], options: GenerateOptions): Promise<GeneratedResponse>;
  dispose(): void;
}

export interface GenerateOptions {
  signal: AbortSignal;
  maxTokens: number;
  temperature: number;
  topP?: number | undefined;
  topK?: number | undefined;
  minP?: number | undefined;
  seed?: number | undefined;
  customStopTriggers?: readonly string[];
  repeatPenalty: false | { penalty: 1; frequencyPenalty: number; presencePenalty: number };
  grammar?: Grammar;
  functions?: ChatFunctions;
  maxParallelFunctionCalls?: number | undefined;
  /** Text of the arguments while they are generated, before `onFunctionCall`. */
  onFunctionCallParamsChunk?: (chunk: { paramsChunk: string }) => void;
  onFunctionCall?: (call: { functionName: string; params: unknown }) => void;
  onResponseChunk?: (chunk: { type?: 'segment'; segmentType?: string; text: string }) => void;
}

export interface GeneratedResponse {
  metadata: { stopReason: string };
}
