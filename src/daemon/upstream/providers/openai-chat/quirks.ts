import type { UpstreamCall } from '../../../features/upstreams/upstream.ts';
import type { Json } from '../../json.ts';
import { shortCallId, shortenedId } from '../call-ids.ts';

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
  supportsSystemRole: boolean;
  /** Whether the first message may be the assistant's, and one of the user follow the output of a tool. */
  supportsAnyTurns: boolean;
  /** Whether the texts of a message may be parts of it. */
  supportsTextParts: boolean;
  /** The `tool_choice` that forces a call of any tool. */
  requiredToolChoice: 'required' | 'any';
  /** Whether it accepts a `tool_choice` of type `allowed_tools`. */
  supportsAllowedTools: boolean;
  /** Whether a `tool_choice` may name the tool that must be called. */
  supportsNamedTool: boolean;
  /** Fields of an assistant message in which it accepts its own reasoning; it may refuse others. */
  reasoningFields: readonly string[];
  /** Whether its own reasoning is sent back to it. */
  replaysReasoning: boolean;
  /** The assistant messages that must have `reasoning_content`: all, even an empty or only some text, or those with calls. */
  needsReasoning: 'even-empty' | 'always' | 'with-calls' | undefined;
  /** Whether tools may be marked as `strict`. */
  supportsStrictTools: boolean;
  /** Whether a model may think before a call that it must make. */
  thinksBeforeForcedCalls: boolean;
  /** Whether descriptions of tools may have any length. */
  supportsLongDescriptions: boolean;
  /** What schemas of tools may have: anything, what can become a grammar, or what all servers know. */
  toolSchemas: 'any' | 'grammar' | 'plain';
  /** The member with the reasoning effort. */
  effort: 'reasoning_effort' | 'reasoning';
  supportsVerbosity: boolean;
  supportsTopK: boolean;
  seedField: 'seed' | 'random_seed';
  /** How many stop sequences it accepts. */
  stopsMax: number;
  /** Whether ids of tool calls must have nine letters or digits, or the most characters that they may have. */
  callIds: 'nine' | number | undefined;
  /** Whether a file's URL is accepted in place of its data. */
  supportsFileUrls: boolean;
  /** Whether messages and parts may have `cache_control`. */
  supportsCacheControl: boolean;
}

const openai: Quirks = {
  outputTokensField: 'max_completion_tokens',
  supportsStreamOptions: true,
  supportsDeveloperRole: true,
  supportsAnyOrder: true,
  supportsSystemRole: true,
  supportsAnyTurns: true,
  supportsTextParts: true,
  requiredToolChoice: 'required',
  supportsAllowedTools: true,
  supportsNamedTool: true,
  reasoningFields: [],
  replaysReasoning: true,
  needsReasoning: undefined,
  supportsStrictTools: true,
  supportsLongDescriptions: true,
  toolSchemas: 'any',
  thinksBeforeForcedCalls: true,
  effort: 'reasoning_effort',
  supportsVerbosity: true,
  supportsTopK: false,
  seedField: 'seed',
  stopsMax: 4,
  callIds: 40,
  supportsFileUrls: false,
  supportsCacheControl: false,
};

const anyReasoning = ['reasoning_content', 'reasoning', 'reasoning_details'];

const generic: Quirks = {
  ...openai,
  outputTokensField: undefined,
  supportsAllowedTools: false,
  // Other gateways read signatures in them.
  callIds: undefined,
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
  supportsCacheControl: true,
};

// Ollama and LM Studio only support the older name, and ignore the other one.
const local: Quirks = { ...generic, outputTokensField: 'max_tokens', stopsMax: Number.POSITIVE_INFINITY };

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
      callIds: 'nine',
    },
    deepseek: {
      ...generic,
      outputTokensField: 'max_tokens',
      reasoningFields: ['reasoning_content'],
      needsReasoning: 'even-empty',
      supportsTopK: false,
    },
    moonshot: { ...generic, reasoningFields: ['reasoning_content'], needsReasoning: 'with-calls' },
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
    'api.moonshot.ai': 'moonshot',
    'api.moonshot.cn': 'moonshot',
    'api.kimi.com': 'moonshot',
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

/** The quirks with what a provider's refusals showed. */
export function adjustedQuirks(quirks: Quirks, adjustments: UpstreamCall['adjustments']): Quirks {
  if (adjustments === undefined) return quirks;
  const adjusted = { ...quirks };
  for (const adjustment of adjustments) {
    switch (adjustment) {
      case 'max_tokens':
      case 'max_completion_tokens':
        adjusted.outputTokensField = adjustment;
        break;
      case 'no-stream-options':
        adjusted.supportsStreamOptions = false;
        break;
      case 'no-reasoning-history':
        adjusted.reasoningFields = [];
        adjusted.replaysReasoning = false;
        adjusted.needsReasoning = undefined;
        break;
      case 'reasoning-history':
        adjusted.reasoningFields = [...quirks.reasoningFields, 'reasoning_content'];
        adjusted.needsReasoning = 'always';
        break;
      case 'no-strict-tools':
        adjusted.supportsStrictTools = false;
        break;
      case 'short-descriptions':
        adjusted.supportsLongDescriptions = false;
        break;
      case 'grammar-schemas':
        adjusted.toolSchemas = 'grammar';
        break;
      case 'plain-schemas':
        adjusted.toolSchemas = 'plain';
        adjusted.supportsStrictTools = false;
        break;
      case 'no-system-role':
        adjusted.supportsSystemRole = false;
        break;
      case 'alternating-turns':
        adjusted.supportsAnyTurns = false;
        break;
      case 'joined-texts':
        adjusted.supportsTextParts = false;
        break;
      case 'no-named-tool':
        adjusted.supportsNamedTool = false;
        break;
      case 'no-forced-thinking':
        adjusted.thinksBeforeForcedCalls = false;
    }
  }
  return adjusted;
}

/** The id of a call as the provider accepts it. */
export function callIdFor(id: string, { callIds }: Quirks): string {
  if (callIds === undefined) return id;
  return callIds === 'nine' ? shortCallId(id) : shortenedId(id, callIds);
}

/** Earlier reasoning for a message of the assistant that has none; undefined if none is needed. */
export function reasoningFor({ tool_calls: calls }: Json, { needsReasoning }: Quirks): string | undefined {
  if (needsReasoning === 'even-empty') return '';
  const hasCalls = Array.isArray(calls) && calls.length > 0;
  // Moonshot takes an empty text for none. Source: earendil-works/pi#4251.
  return needsReasoning === 'always' || (needsReasoning === 'with-calls' && hasCalls) ? '.' : undefined;
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
