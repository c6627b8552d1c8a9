/** Whose dialect of the chat format is spoken; `generic` is what most servers understand. */
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

/** Where a provider differs from OpenAI's chat format. */
export interface Flavour {
  /** The field that bounds the output; undefined where nobody knows: see `outputTokensField`. */
  outputTokensField: 'max_tokens' | 'max_completion_tokens' | undefined;
  /** Whether it knows `stream_options`; those that do not send usage without being asked. */
  takesStreamOptions: boolean;
  /** Whether it knows the role `developer` beside `system`. */
  knowsDeveloper: boolean;
  /** How it is told that some tool must be called. */
  requiredToolChoice: 'required' | 'any';
  /** Fields of an assistant's message in which it takes its own reasoning back; others it may refuse. */
  reasoningFields: readonly string[];
  /** Whether every message of the assistant must have `reasoning_content`, empty where the thoughts are not known. */
  wantsReasoning: boolean;
  /** Where the reasoning effort goes. */
  effort: 'reasoning_effort' | 'reasoning';
  takesVerbosity: boolean;
  takesTopK: boolean;
  seedField: 'seed' | 'random_seed';
  /** Whether ids of tool calls must be nine letters or digits. */
  hasShortCallIds: boolean;
  /** Whether the URL of a file may stand where its data belongs. */
  takesFileUrls: boolean;
}

const openai: Flavour = {
  outputTokensField: 'max_completion_tokens',
  takesStreamOptions: true,
  knowsDeveloper: true,
  requiredToolChoice: 'required',
  reasoningFields: [],
  wantsReasoning: false,
  effort: 'reasoning_effort',
  takesVerbosity: true,
  takesTopK: false,
  seedField: 'seed',
  hasShortCallIds: false,
  takesFileUrls: false,
};

const anyReasoning = ['reasoning_content', 'reasoning', 'reasoning_details'];

const generic: Flavour = {
  ...openai,
  outputTokensField: undefined,
  knowsDeveloper: false,
  reasoningFields: anyReasoning,
  takesVerbosity: false,
  takesTopK: true,
};

const aggregator: Flavour = {
  ...generic,
  outputTokensField: 'max_tokens',
  knowsDeveloper: true,
  effort: 'reasoning',
  takesVerbosity: true,
  takesFileUrls: true,
};

const flavours: Record<FlavourName, Flavour> = {
  openai,
  openrouter: aggregator,
  vercel: aggregator,
  mistral: {
    ...generic,
    outputTokensField: 'max_tokens',
    takesStreamOptions: false,
    requiredToolChoice: 'any',
    reasoningFields: [],
    takesTopK: false,
    seedField: 'random_seed',
    hasShortCallIds: true,
  },
  deepseek: {
    ...generic,
    outputTokensField: 'max_tokens',
    reasoningFields: ['reasoning_content'],
    wantsReasoning: true,
    takesTopK: false,
  },
  groq: {
    ...generic,
    outputTokensField: 'max_completion_tokens',
    reasoningFields: ['reasoning'],
    takesTopK: false,
  },
  xai: { ...generic, reasoningFields: ['reasoning_content'], takesTopK: false },
  // Ollama and LM Studio know the older name alone, and take the other one without heeding it.
  local: { ...generic, outputTokensField: 'max_tokens' },
  generic,
};

/** As servers on this machine are named when they are found. */
const localNames = new Set(['ollama', 'lmstudio', 'llamacpp', 'vllm']);
/** Of Ollama and LM Studio, on whatever host. */
const localPorts = new Set(['11434', '1234']);

const hosts: Record<string, FlavourName> = {
  'api.openai.com': 'openai',
  'openrouter.ai': 'openrouter',
  'ai-gateway.vercel.sh': 'vercel',
  'api.mistral.ai': 'mistral',
  'codestral.mistral.ai': 'mistral',
  'api.deepseek.com': 'deepseek',
  'api.groq.com': 'groq',
  'api.x.ai': 'xai',
};

/** The named flavour, or that of the host, the port or the provider's name, or what most servers understand. */
export function flavourOf(settings: { name: string; baseUrl: string; flavour?: FlavourName }): Flavour {
  if (settings.flavour !== undefined) return flavours[settings.flavour];
  const { hostname = '', port = '' } = URL.parse(settings.baseUrl) ?? {};
  const byHost = Object.hasOwn(hosts, hostname) ? hosts[hostname] : undefined;
  if (byHost !== undefined) return flavours[byHost];
  if (localPorts.has(port) || localNames.has(settings.name)) return flavours.local;
  return Object.hasOwn(flavours, settings.name) ? flavours[settings.name as FlavourName] : generic;
}

/** OpenAI's reasoning models refuse the older name, which everybody else's know. */
const newerName = /(^|\/)(o\d|gpt-[5-9])/;

/** The field that bounds the output of a model; `asked` is the one that the caller used. */
export function outputTokensField(
  { outputTokensField: known }: Flavour,
  model: string,
  asked?: 'max_tokens' | 'max_completion_tokens',
): 'max_tokens' | 'max_completion_tokens' {
  return known ?? asked ?? (newerName.test(model) ? 'max_completion_tokens' : 'max_tokens');
}
