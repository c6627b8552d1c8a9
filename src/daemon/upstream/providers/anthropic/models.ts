/** How much a Claude model may be asked to think. */
export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/**
 * What a model of the Messages API takes. Source: Anthropic's model overview, and the migration guides of the models,
 * which list what each generation began to refuse.
 */
export interface ModelTraits {
  outputTokensMax: number;
  /** `adaptive` models take an effort, `budget` models a number of tokens. */
  thinking: 'none' | 'budget' | 'adaptive';
  /** How the least thinking is asked for. Some models think by default, some cannot be stopped. */
  thinkingOff: 'omit' | 'disabled' | 'between_tools' | 'low-effort';
  efforts: readonly Effort[];
  /** Whether thoughts are left out of the answer unless a summary is asked for. */
  hidesThoughts: boolean;
  /** Whether thoughts may come back only behind the very prompt they were thought on. */
  bindsThoughts: boolean;
  /** temperature, top_p, top_k */
  takesSampling: boolean;
  takesTemperatureWithTopP: boolean;
  /** tool_choice `any` and `tool` */
  takesForcedTools: boolean;
  /** output_config.format, and `strict` tools */
  takesSchema: boolean;
  /** Whether a conversation may end with the assistant. */
  takesPrefill: boolean;
  /** Whether it can be asked to cache the prompt, which it does not do by itself. */
  cachesPrompts: boolean;
}

/** A model that is not Claude, behind the same API: only what every such server takes. */
const stranger: ModelTraits = {
  outputTokensMax: 8192,
  thinking: 'none',
  thinkingOff: 'omit',
  efforts: [],
  hidesThoughts: false,
  bindsThoughts: false,
  takesSampling: true,
  takesTemperatureWithTopP: true,
  takesForcedTools: true,
  takesSchema: false,
  takesPrefill: true,
  cachesPrompts: false,
};

export function traitsOf(model: string): ModelTraits {
  if (!/(^|[^a-z])claude/i.test(model)) return stranger;
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
    takesSampling: !adaptiveOnly,
    takesTemperatureWithTopP: rank < 401,
    takesForcedTools: !newest,
    takesSchema: rank >= 405,
    takesPrefill: rank < 406,
    cachesPrompts: rank >= 305,
  };
}

interface Version {
  family: string;
  /** Major version times 100 plus minor version. */
  rank: number;
}

/** Names without a version (`claude-opus-latest`) are taken for the newest. */
const newestRank = 9999;

/** `claude-opus-4-1-20250805`, `claude-3-5-haiku-latest`, `anthropic/claude-sonnet-4.5`; a date is no minor version. */
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
