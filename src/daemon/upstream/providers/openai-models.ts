/**
 * What a model of OpenAI takes of the options that tune an answer. Source: OpenAI's model pages, its guides to reasoning models
 * and to the latest model, and its refusals.
 */
export interface ModelTraits {
  /** The reasoning efforts that it takes, from the least on; none if it does not reason. */
  efforts: readonly string[];
  /** Whether it reasons if a call names no effort. */
  reasonsByDefault: boolean;
  /** temperature, top_p and log probabilities */
  sampling: 'always' | 'without-reasoning' | 'never';
  /** presence_penalty, frequency_penalty, logit_bias */
  supportsPenalties: boolean;
  supportsStop: boolean;
  /** Whether it takes a verbosity other than `medium`. */
  supportsVerbosity: boolean;
  /** Whether it takes `parallel_tool_calls`; models without it make one call at a time. */
  supportsParallelCalls: boolean;
}

const plain: ModelTraits = {
  efforts: [],
  reasonsByDefault: false,
  sampling: 'always',
  supportsPenalties: true,
  supportsStop: true,
  supportsVerbosity: false,
  supportsParallelCalls: true,
};

const reasoning: ModelTraits = {
  efforts: ['low', 'medium', 'high'],
  reasonsByDefault: true,
  sampling: 'never',
  supportsPenalties: false,
  supportsStop: false,
  supportsVerbosity: false,
  supportsParallelCalls: true,
};

/**
 * Models that OpenAI has in the Responses format only: `pro`, Codex, deep research and computer use. Source: the endpoints on
 * OpenAI's model pages, and its refusals.
 */
const responsesOnly =
  /^(o\d-pro|o\d(-mini)?-deep-research|gpt-\d+(\.\d+)?-(pro|codex)|codex-mini|computer-use)(-|$)/;

export function isResponsesOnly(model: string): boolean {
  return responsesOnly.test(model);
}

/** The first model that calls no functions while it reasons, unless it is asked in the Responses format: GPT-5.4. */
const reasonsWithoutCalls = 504;

/**
 * Whether a model refuses functions in the chat format at an effort, by default its own. Source: openai/openai-openapi#541,
 * BerriAI/litellm#34569.
 */
export function refusesFunctionsInChat(model: string, effort: unknown): boolean {
  const [, major, minor] = /(?:^|\/)gpt-([56])(?:\.(\d+))?(?:-(?!chat)|$)/.exec(model) ?? [];
  if (Number(major) * 100 + Number(minor ?? 0) < reasonsWithoutCalls || major === undefined) return false;
  const reasons = typeof effort === 'string' ? effort !== 'none' : traitsOf(model)?.reasonsByDefault;
  return reasons ?? false;
}

/** Models for other endpoints, and variants with options of their own. */
const special = /search|audio|realtime|transcribe|tts|image|research|safeguard|instruct|computer/;

/** The traits of a model by its name, with or without that of its maker; undefined for names that are not known. */
export function traitsOf(model: string): ModelTraits | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1);
  if (special.test(name)) return undefined;
  const series = /^o([134])(-|$)/.exec(name)?.[1];
  if (series !== undefined)
    return {
      ...reasoning,
      supportsStop: series === '1' || /^o3-mini/.test(name),
      supportsParallelCalls: false,
    };
  if (/^(gpt-3\.5|gpt-4|chatgpt-4o)/.test(name)) return plain;
  const [, major, minor, variant = ''] = /^gpt-([56])(?:\.(\d+))?(?:-(.+))?$/.exec(name) ?? [];
  return major === undefined ? undefined : gptTraits(Number(major) * 100 + Number(minor ?? 0), variant);
}

/** `rank`: the major version times 100 plus the minor version. */
function gptTraits(rank: number, variant: string): ModelTraits | undefined {
  if (variant.startsWith('chat')) return rank === 500 ? plain : undefined;
  if (variant.startsWith('codex'))
    return {
      ...reasoning,
      efforts: [...reasoning.efforts, ...(rank >= 502 || /max/.test(variant) ? ['xhigh'] : [])],
    };
  if (variant.startsWith('pro'))
    return {
      ...reasoning,
      efforts: rank === 500 ? ['high'] : ['medium', 'high', 'xhigh'],
      supportsVerbosity: true,
    };
  const canRest = rank > 500 && (rank < 600 || /^(luna|sol|terra)/.test(variant)) && rank !== 601;
  return {
    ...reasoning,
    efforts: [
      ...(rank === 500 ? ['minimal'] : canRest ? ['none'] : []),
      ...reasoning.efforts,
      ...(rank >= 502 ? ['xhigh'] : []),
      ...(rank >= 506 ? ['max'] : []),
    ],
    reasonsByDefault: !canRest || rank >= 505,
    sampling: canRest ? 'without-reasoning' : 'never',
    supportsVerbosity: true,
  };
}
