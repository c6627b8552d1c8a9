/** How a provider deviates from OpenAI's chat format. Source: the providers' API references. */
export interface Quirks {
  /** The field that limits the output; undefined if unknown, see `outputTokensField`. */
  outputTokensField: 'max_tokens' | 'max_completion_tokens' | undefined;
  /** Whether it accepts `stream_options`; providers without it always send usage. */
  supportsStreamOptions: boolean;
  /** Whether it accepts the role `developer`. */
  supportsDeveloperRole: boolean;
  /** Whether system messages may be anywhere, and messages of one role in a row: the templates of many models refuse both. */
  supportsAnyOrder: boolean;
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

const openai: Quirks = {
  outputTokensField: 'max_completion_tokens',
  supportsStreamOptions: true,
  supportsDeveloperRole: true,
  supportsAnyOrder: true,
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

const generic: Quirks = {
  ...openai,
  outputTokensField: undefined,
  supportsAllowedTools: false,
  supportsDeveloperRole: false,
  supportsAnyOrder: false,
  reasoningFields: anyReasoning,
  supportsVerbosity: false,
  supportsTopK: true,
};

const aggregator: Quirks = {
  ...generic,
  outputTokensField: 'max_tokens',
  supportsDeveloperRole: true,
  supportsAnyOrder: true,
  effort: 'reasoning',
  supportsVerbosity: true,
  supportsFileUrls: true,
};

// Ollama and LM Studio only support the older name, and ignore the other one.
const local: Quirks = { ...generic, outputTokensField: 'max_tokens' };

/** By the provider's name. */
const quirksByName = new Map(
  Object.entries<Quirks>({
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
    ollama: local,
    lmstudio: local,
    llamacpp: local,
    vllm: local,
  }),
);

/** Ports of Ollama and LM Studio, on any host. */
const localPorts = new Set(['11434', '1234']);

const nameByHost = new Map(
  Object.entries({
    'api.openai.com': 'openai',
    'openrouter.ai': 'openrouter',
    'ai-gateway.vercel.sh': 'vercel',
    'api.mistral.ai': 'mistral',
    'codestral.mistral.ai': 'mistral',
    'api.deepseek.com': 'deepseek',
    'api.groq.com': 'groq',
    'api.x.ai': 'xai',
  }),
);

/** The quirks of the host, else of the port or the provider's name; what most servers accept, if none is known. */
export function quirksOf({ name, baseUrl }: { name: string; baseUrl: string }): Quirks {
  const { hostname = '', port = '' } = URL.parse(baseUrl) ?? {};
  const known = nameByHost.get(hostname);
  if (known === undefined && localPorts.has(port)) return local;
  return quirksByName.get(known ?? name) ?? generic;
}

/** OpenAI's reasoning models refuse `max_tokens`, which all other models accept. */
const renamedField = /(^|\/)(o\d|gpt-[5-9])/;

/** The field that limits a model's output; `requested` is the one that the caller used. */
export function outputTokensField(
  { outputTokensField: known }: Quirks,
  model: string,
  requested?: 'max_tokens' | 'max_completion_tokens',
): 'max_tokens' | 'max_completion_tokens' {
  return known ?? requested ?? (renamedField.test(model) ? 'max_completion_tokens' : 'max_tokens');
}
