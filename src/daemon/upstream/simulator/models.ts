/** What the list of models tells of a model of the simulator. They cost nothing. */
export interface SimulatorModel {
  id: string;
  title: string;
  description: string;
  /** In tokens. */
  contextLength: number;
  /** In tokens. */
  outputTokensMax: number;
  capabilities: {
    inputModalities: readonly ('text' | 'image' | 'file')[];
    outputModalities: readonly 'text'[];
    tools: boolean;
    parallelTools: boolean;
    structuredOutput: boolean;
    reasoning: boolean;
    logprobs: boolean;
  };
}

/** How a model of the simulator behaves; the part of its name after `sim/`. */
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

/** `sim/slow` says nothing for this long, then drips. */
export const slowPace = { latencyMs: 500, tokensPerSecond: 20 } as const;
/** `sim/broken` and `sim/filtered` stop after this many tokens, or just before their end if they have fewer. */
export const brokenAfterTokens = 8;
/** What `sim/limited` asks callers to wait. */
export const limitedRetryAfterSeconds = 1;

const descriptions: Record<Behaviour, string> = {
  assistant: 'Answers deterministically: text, tool calls, structured output, reasoning. Scriptable.',
  echo: 'Repeats the last user text exactly.',
  slow: `Answers like sim/assistant, after ${slowPace.latencyMs} ms and at ${slowPace.tokensPerSecond} tokens a second.`,
  flaky: 'Fails its first call and every other one after it with a 503; else answers like sim/assistant.',
  broken: 'Starts like sim/assistant and breaks off after a few words.',
  limited: 'Is always rate limited and asks to come back in a second.',
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

/** The models that the simulator always has. */
export const simulatorModels: readonly SimulatorModel[] = Object.entries(descriptions).map(
  ([name, description]) => modelNamed(`${modelPrefix}${name}`, description),
);

/** The built-in models and those that a script adds under `models`. */
export function simulatorModelsWith(script: { models: readonly string[] }): readonly SimulatorModel[] {
  const known = new Set(simulatorModels.map((model) => model.id));
  const added = script.models.filter((id) => !known.has(id));
  return [...simulatorModels, ...added.map((id) => modelNamed(id, 'Added by the script.'))];
}

/** The behaviour that a model's id stands for; undefined when it is not built in. */
export function behaviourOf(id: string): Behaviour | undefined {
  const name = id.slice(modelPrefix.length);
  return Object.hasOwn(descriptions, name) ? (name as Behaviour) : undefined;
}

/** `assistant` and `sim/assistant` → `sim/assistant`. */
export function simulatorId(model: string): string {
  return model.startsWith(modelPrefix) ? model : `${modelPrefix}${model}`;
}
