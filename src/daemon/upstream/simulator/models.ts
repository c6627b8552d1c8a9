import type { ModelKind } from '../../features/catalog/index.ts';

/** A model of the simulator, as shown in the list of models. They are free. */
export interface SimulatorModel {
  id: string;
  title: string;
  description: string;
  /** In tokens. */
  contextLength: number;
  /** In tokens; absent for embeddings. */
  outputTokensMax?: number;
  capabilities: {
    kind: ModelKind;
    inputModalities: readonly ('text' | 'image' | 'file')[];
    outputModalities: readonly ('text' | 'embeddings')[];
    tools: boolean;
    parallelTools: boolean;
    structuredOutput: boolean;
    reasoning: boolean;
    logprobs: boolean;
  };
}

/** The behaviour of a model, named after the part of its id after `sim/`. */
export type Behaviour =
  | 'assistant'
  | 'echo'
  | 'slow'
  | 'flaky'
  | 'broken'
  | 'limited'
  | 'refuses'
  | 'filtered';

export const modelPrefix = 'sim/';
export const contextLength = 128_000;
export const outputTokensMax = 16_384;

/** The delay and speed of `sim/slow`. */
export const slowPace = { latencyMs: 500, tokensPerSecond: 20 } as const;
/** `sim/broken` and `sim/filtered` stop after this many tokens, or just before the end of a shorter answer. */
export const brokenAfterTokens = 8;
/** The `Retry-After` of `sim/limited`. */
export const limitedRetryAfterSeconds = 1;

const descriptions: Record<Behaviour, string> = {
  assistant: 'Answers deterministically: text, tool calls, structured output, reasoning. Scriptable.',
  echo: 'Repeats the last user text exactly.',
  slow: `Answers like sim/assistant, after ${slowPace.latencyMs} ms and at ${slowPace.tokensPerSecond} tokens per second.`,
  flaky: 'Fails every other call with a 503, starting with the first; otherwise answers like sim/assistant.',
  broken: 'Starts like sim/assistant and breaks off after a few words.',
  limited: 'Is always rate limited, with a Retry-After of one second.',
  refuses: 'Refuses, politely.',
  filtered: 'Starts like sim/assistant and is stopped by a content filter after a few words.',
};

function modelNamed(id: string, description: string): SimulatorModel {
  return {
    id,
    title: `Simulator: ${id.slice(modelPrefix.length)}`,
    description: `Built-in simulator, not a language model. ${description}`,
    contextLength,
    outputTokensMax,
    capabilities: {
      kind: 'chat',
      inputModalities: ['text', 'image', 'file'],
      outputModalities: ['text'],
      tools: true,
      parallelTools: true,
      structuredOutput: true,
      reasoning: true,
      logprobs: true,
    },
  };
}

export const embeddingModel = 'sim/embedding';
/** In tokens, of one input. */
export const embeddingContextLength = 8192;

/** The built-in models. */
export const simulatorModels: readonly SimulatorModel[] = [
  ...Object.entries(descriptions).map(([name, description]) =>
    modelNamed(`${modelPrefix}${name}`, description),
  ),
  {
    id: embeddingModel,
    title: 'Simulator: embedding',
    description:
      'Built-in simulator, not a language model. Returns unit vectors hashed from words and parts of words, so that similar texts have similar vectors.',
    contextLength: embeddingContextLength,
    capabilities: {
      kind: 'embedding',
      inputModalities: ['text'],
      outputModalities: ['embeddings'],
      tools: false,
      parallelTools: false,
      structuredOutput: false,
      reasoning: false,
      logprobs: false,
    },
  },
];

/** The built-in models plus those in a script's `models`. */
export function modelsWithScript(script: { models?: readonly string[] }): readonly SimulatorModel[] {
  const known = new Set(simulatorModels.map((model) => model.id));
  const added = (script.models ?? []).filter((id) => !known.has(id));
  return [...simulatorModels, ...added.map((id) => modelNamed(id, 'Added by the script.'))];
}

/** The behaviour of a built-in model; undefined for other ids. */
export function behaviourOf(id: string): Behaviour | undefined {
  const name = id.slice(modelPrefix.length);
  return Object.hasOwn(descriptions, name) ? (name as Behaviour) : undefined;
}

/** Adds the prefix if it is missing: `assistant` becomes `sim/assistant`. */
export function simulatorId(model: string): string {
  return model.startsWith(modelPrefix) ? model : `${modelPrefix}${model}`;
}
