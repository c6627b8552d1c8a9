/** The reasoning effort of a Claude model. */
export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/**
 * What a model of the Messages API accepts. Source: Anthropic's model overview, and the models' migration guides, which
 * list what each generation no longer accepts.
 */
export interface ModelTraits {
  outputTokensMax: number;
  /** `adaptive` models accept an effort, `budget` models a number of tokens. */
  thinking: 'none' | 'budget' | 'adaptive';
  /** How to request the least thinking. Some models think by default, some always do. */
  thinkingOff: 'omit' | 'disabled' | 'between_tools' | 'low-effort';
  efforts: readonly Effort[];
  /** Whether the answer has no thoughts unless a summary is requested. */
  hidesThoughts: boolean;
  /** Whether thoughts are only accepted again after the exact prompt that produced them. */
  bindsThoughts: boolean;
  /** temperature, top_p, top_k */
  supportsSampling: boolean;
  supportsTemperatureWithTopP: boolean;
  /** tool_choice `any` and `tool` */
  supportsForcedTools: boolean;
  /** output_config.format, and `strict` tools */
  supportsSchemas: boolean;
  /** Whether a conversation may end with the assistant. */
  supportsPrefill: boolean;
  /** Whether it caches prompts on request. */
  supportsPromptCaching: boolean;
}

/** A model other than Claude behind the same API: only what every such server accepts. */
const unknownModel: ModelTraits = {
  outputTokensMax: 8192,
  thinking: 'none',
  thinkingOff: 'omit',
  efforts: [],
  hidesThoughts: false,
  bindsThoughts: false,
  supportsSampling: true,
  supportsTemperatureWithTopP: true,
  supportsForcedTools: true,
  supportsSchemas: false,
  supportsPrefill: true,
  supportsPromptCaching: false,
};

export function traitsOf(model: string): ModelTraits {
  if (!/(^|[^a-z])claude/i.test(model)) return unknownModel;
  const { family, rank } = versionOf(model);
  const adaptive = rank >= (family === 'haiku' ? 500 : 406);
  const adaptiveOnly = rank >= (family === 'opus' ? 407 : 500);
  const newest = rank >= (family === 'opus' || family === 'sonnet' ? 505 : 501) && family !== 'haiku';
  return {
    outputTokensMax: outputTokensMax(family, rank),
    thinking: adaptive ? 'adaptive' : rank >= 307 ? 'budget' : 'none',
    thinkingOff: adaptiveOnly ? thinkingOff(family, rank) : 'omit',
    efforts: adaptiveOnly ? ['low', 'medium', 'high', 'xhigh', 'max'] : ['low', 'medium', 'high', 'max'],
    hidesThoughts: adaptiveOnly,
    bindsThoughts: newest,
    supportsSampling: !adaptiveOnly,
    supportsTemperatureWithTopP: rank < 401,
    supportsForcedTools: !newest,
    supportsSchemas: rank >= 405,
    supportsPrefill: rank < 406,
    supportsPromptCaching: rank >= 305,
  };
}

interface Version {
  family: string;
  /** Major version times 100 plus minor version. */
  rank: number;
}

/** For names without a version (`claude-opus-latest`). */
const newestRank = 9999;

/** Parses `claude-opus-4-1-20250805`, `claude-3-5-haiku-latest`, `anthropic/claude-sonnet-4.5`; a date is not a version. */
function versionOf(model: string): Version {
  const old = /claude-(\d)(?:[-.](\d))?(?:-([a-z]+))?(?!\d)/i.exec(model);
  if (old) return { family: old[3]?.toLowerCase() ?? '', rank: Number(old[1]) * 100 + Number(old[2] ?? 0) };
  const named = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/i.exec(model);
  if (named) {
    return { family: (named[1] ?? '').toLowerCase(), rank: Number(named[2]) * 100 + Number(named[3] ?? 0) };
  }
  const family = /claude-([a-z]+)/i.exec(model)?.[1]?.toLowerCase() ?? '';
  return { family, rank: family === 'instant' || family === 'v' ? 200 : newestRank };
}

function outputTokensMax(family: string, rank: number): number {
  if (rank < 305) return 4096;
  if (rank < 307) return 8192;
  if (family === 'opus' && rank < 405) return 32_000;
  return rank < 406 || family === 'haiku' ? 64_000 : 128_000;
}

function thinkingOff(family: string, rank: number): ModelTraits['thinkingOff'] {
  if (family === 'opus' && rank < 500) return 'omit';
  if (family === 'haiku') return 'disabled';
  if (family === 'opus') return rank < 505 ? 'disabled' : 'low-effort';
  if (family === 'sonnet') return rank < 505 ? 'disabled' : 'between_tools';
  return 'low-effort';
}
