/** A dialect of the chat format; `generic` is what most servers accept. */
export type FlavourName =
  | 'openai'
  | 'openrouter'
  | 'vercel'
  | 'mistral'
  | 'deepseek'
  | 'groq'
  | 'xai'
  | 'local'
  | 'generic';

/** How a provider deviates from OpenAI's chat format. Source: the providers' API references. */
export interface Flavour {
  /** The field that limits the output; undefined if unknown, see `outputTokensField`. */
  outputTokensField: 'max_tokens' | 'max_completion_tokens' | undefined;
  /** Whether it accepts `stream_options`; providers without it always send usage. */
  supportsStreamOptions: boolean;
  /** Whether it accepts the role `developer`. */
  supportsDeveloperRole: boolean;
  /** The `tool_choice` that forces a call of any tool. */
  requiredToolChoice: 'required' | 'any';
  /** Whether it accepts a `tool_choice` of type `allowed_tools`. */
  supportsAllowedTools: boolean;
  /** Fields of an assistant message in which it accepts its own reasoning; it may refuse others. */
  reasoningFields: readonly string[];
  /** Whether every assistant message must have `reasoning_content`, even if empty. */
  needsReasoning: boolean;
  /** The member with the reasoning effort. */
  effort: 'reasoning_effort' | 'reasoning';
  supportsVerbosity: boolean;
  supportsTopK: boolean;
  seedField: 'seed' | 'random_seed';
  /** Whether ids of tool calls must have nine letters or digits. */
  needsShortCallIds: boolean;
  /** Whether a file's URL is accepted in place of its data. */
  supportsFileUrls: boolean;
}

const openai: Flavour = {
  outputTokensField: 'max_completion_tokens',
  supportsStreamOptions: true,
  supportsDeveloperRole: true,
  requiredToolChoice: 'required',
  supportsAllowedTools: true,
  reasoningFields: [],
  needsReasoning: false,
  effort: 'reasoning_effort',
  supportsVerbosity: true,
  supportsTopK: false,
  seedField: 'seed',
  needsShortCallIds: false,
  supportsFileUrls: false,
};

const anyReasoning = ['reasoning_content', 'reasoning', 'reasoning_details'];

const generic: Flavour = {
  ...openai,
  outputTokensField: undefined,
  supportsAllowedTools: false,
  supportsDeveloperRole: false,
  reasoningFields: anyReasoning,
  supportsVerbosity: false,
  supportsTopK: true,
};

const aggregator: Flavour = {
  ...generic,
  outputTokensField: 'max_tokens',
  supportsDeveloperRole: true,
  effort: 'reasoning',
  supportsVerbosity: true,
  supportsFileUrls: true,
};

const flavours: Record<FlavourName, Flavour> = {
  openai,
  openrouter: aggregator,
  vercel: aggregator,
  mistral: {
    ...generic,
    outputTokensField: 'max_tokens',
    supportsStreamOptions: false,
    requiredToolChoice: 'any',
    reasoningFields: [],
    supportsTopK: false,
    seedField: 'random_seed',
    needsShortCallIds: true,
  },
  deepseek: {
    ...generic,
    outputTokensField: 'max_tokens',
    reasoningFields: ['reasoning_content'],
    needsReasoning: true,
    supportsTopK: false,
  },
  groq: {
    ...generic,
    outputTokensField: 'max_completion_tokens',
    reasoningFields: ['reasoning'],
    supportsTopK: false,
  },
  xai: { ...generic, reasoningFields: ['reasoning_content'], supportsTopK: false },
  // Ollama and LM Studio only support the older name, and ignore the other one.
  local: { ...generic, outputTokensField: 'max_tokens' },
  generic,
};

/** The names of detected local servers. */
const localNames = new Set(['ollama', 'lmstudio', 'llamacpp', 'vllm']);
/** Ports of Ollama and LM Studio, on any host. */
const localPorts = new Set(['11434', '1234']);

const flavourByHost: Record<string, FlavourName> = {
  'api.openai.com': 'openai',
  'openrouter.ai': 'openrouter',
  'ai-gateway.vercel.sh': 'vercel',
  'api.mistral.ai': 'mistral',
  'codestral.mistral.ai': 'mistral',
  'api.deepseek.com': 'deepseek',
  'api.groq.com': 'groq',
  'api.x.ai': 'xai',
};

/** The named flavour, else that of the host, the port or the provider's name, else `generic`. */
export function flavourOf(settings: { name: string; baseUrl: string; flavour?: FlavourName }): Flavour {
  if (settings.flavour !== undefined) return flavours[settings.flavour];
  const { hostname = '', port = '' } = URL.parse(settings.baseUrl) ?? {};
  const byHost = Object.hasOwn(flavourByHost, hostname) ? flavourByHost[hostname] : undefined;
  if (byHost !== undefined) return flavours[byHost];
  if (localPorts.has(port) || localNames.has(settings.name)) return flavours.local;
  return Object.hasOwn(flavours, settings.name) ? flavours[settings.name as FlavourName] : generic;
}

/** OpenAI's reasoning models refuse `max_tokens`, which all other models accept. */
const renamedField = /(^|\/)(o\d|gpt-[5-9])/;

/** The field that limits a model's output; `requested` is the one that the caller used. */
export function outputTokensField(
  { outputTokensField: known }: Flavour,
  model: string,
  requested?: 'max_tokens' | 'max_completion_tokens',
): 'max_tokens' | 'max_completion_tokens' {
  return known ?? requested ?? (renamedField.test(model) ? 'max_completion_tokens' : 'max_tokens');
}
