import { toolDescriptionCharsMax } from '../../../../shared/constants/tool-descriptions.ts';
import { isObject, type JsonObject as Json, listOf } from '../../../../shared/json/json-object.ts';
import type { Inference, OutputFormat, Wire } from '../../upstreams/neutral.ts';
import {
  type Adjustment,
  type Dropped,
  type UpstreamCall,
  UpstreamFailure,
} from '../../upstreams/upstream.ts';
import { saysUnsupported } from './refused-options.ts';
import { withUserLast, withUserMessage } from './within-abilities.ts';

interface Rule {
  adjustment: Adjustment;
  /** What names the member, in the path or the sentence of a refusal. */
  named: RegExp;
  /** What the sentence says of it. */
  says: RegExp;
  /** The format of the request. */
  wire?: Wire;
}

const missing = /\b(missing|required?|must (be|have|include|contain)|passed back|needs?)\b/i;

const itemStatus = /\binput(\[\d+\])?\.status\b/;

/** llama.cpp, of a schema that it cannot turn into a grammar. Source: can1357/oh-my-pi#5914, unslothai/unsloth#7512. */
const noGrammar =
  /unrecognized schema|schema conversion failed|pattern must start with|failed to (parse|initialize) grammar/i;

/**
 * Members of requests that the caller did not ask for, or that can be expressed in another way, with what the refusals of
 * providers say about them. The first match wins.
 */
const rules: readonly Rule[] = [
  { adjustment: 'max_completion_tokens', named: /^\W*max_tokens\b/, says: saysUnsupported, wire: 'chat' },
  { adjustment: 'max_tokens', named: /^\W*max_completion_tokens\b/, says: saysUnsupported, wire: 'chat' },
  {
    adjustment: 'no-stream-options',
    named: /\bstream_options\b|\binclude_usage\b/,
    says: saysUnsupported,
    wire: 'chat',
  },
  { adjustment: 'reasoning-history', named: /\breasoning_content\b/, says: missing, wire: 'chat' },
  {
    adjustment: 'no-reasoning-history',
    named: /\breasoning_(content|details)\b|\bmessages\b\S{0,40}\breasoning\b/,
    says: saysUnsupported,
    wire: 'chat',
  },
  {
    adjustment: 'no-strict-tools',
    named: /\btools?\b.{0,60}\bstrict\b|\bstrict\b.{0,60}\b(tools?|functions?)\b/,
    says: saysUnsupported,
  },
  // DeepSeek, whose models think by default. Source: deepseek-ai/DeepSeek-V3#1376.
  { adjustment: 'no-forced-thinking', named: /\btool_choice\b/, says: /\bthinking\b/i, wire: 'chat' },
  // Claude from 4.6 on, Gemini and Mistral, also behind others, and vLLM. Source: anomalyco/opencode#13768, anthropics/claude-code#52433,
  // ericc-ch/copilot-api#261, anomalyco/opencode#45359, songquanpeng/one-api#836, huggingface/smolagents#757, mistralai/mistral-vibe#114.
  {
    adjustment: 'user-last',
    named: /\bprefill\b|\b(conversation|messages?|last role|requests?)\b/i,
    says: /\bprefill\b|must end with a user|last message must be (from |of )?(a |the )?user|\b(not be|is) from the assistant|last role user|ends? with a user role|ending with a model turn/i,
  },
  // The template of Qwen. Source: vllm-project/vllm#36432, ollama/ollama#17778, holon-run/holon#2829, langgenius/dify#33152.
  { adjustment: 'user-message', named: /\buser query\b/i, says: /no user query found/i },
  // The templates of Mistral and Gemma. Source: ggml-org/llama.cpp#19851, sipeed/picoclaw#207, mistralai/mistral-vibe#1006,
  // NousResearch/hermes-agent#20154, aliou/pi-neuralwatt#12.
  {
    adjustment: 'alternating-turns',
    named: /\broles?\b/i,
    says: /roles must alternate|unexpected role '?user'? after role '?(tool|assistant)/i,
    wire: 'chat',
  },
  // Servers with the Responses format. Source: earendil-works/pi#7263, openclaw/openclaw#100657, Wei-Shaw/sub2api#6143,
  // diegosouzapw/OmniRoute#8507.
  { adjustment: 'no-item-status', named: itemStatus, says: saysUnsupported, wire: 'responses' },
  { adjustment: 'item-status', named: itemStatus, says: missing, wire: 'responses' },
  // The template of Gemma. Source: vllm-project/vllm#2964, huggingface/chat-ui#1386, sgl-project/sglang#1342, arcee-ai/fastmlx#22.
  {
    adjustment: 'no-system-role',
    named: /\b(system|developer)\b/i,
    says: /\bsystem (role|messages?|prompts?)\b.{0,20}\bnot (be )?(supported|allowed)|developer instruction is not enabled/i,
    wire: 'chat',
  },
  // DeepSeek, Groq and OpenCode. Source: moeru-ai/airi#1222, QwenLM/qwen-code#2320, gptme/gptme#896, tbphp/gpt-load#743.
  {
    adjustment: 'joined-texts',
    named: /\b(messages?|content|input)\b/i,
    says: /expected a string|(must|should) be an? (valid )?string|invalid type: sequence/i,
    wire: 'chat',
  },
  // LM Studio. Source: lmstudio-ai/lmstudio-bug-tracker#670, can1357/llm-git#13, alibaba/page-agent#367.
  {
    adjustment: 'no-named-tool',
    named: /\btool_choice\b/,
    says: /\btype\b.{0,20}\bobject\b|\bstring\b/i,
    wire: 'chat',
  },
  // Azure, and older models of OpenAI. Source: OpenHands/OpenHands#4838, getsentry/sentry-mcp#106, rusiaaman/wcgw#51.
  {
    adjustment: 'short-descriptions',
    named: /\btools\b.{0,30}\bdescription\b/,
    says: /too long|maximum length/i,
  },
  { adjustment: 'grammar-schemas', named: /\b(schema|grammar|pattern)\b/i, says: noGrammar, wire: 'chat' },
  // Kimi, and Gemini behind others. Source: openclaw/openclaw#38883, earendil-works/pi#4138, tashfeenahmed/freellmapi#97,
  // databricks/unity-gateway#491.
  {
    adjustment: 'plain-schemas',
    named: /\b(tools?|schema|keywords?|unknown name)\b/i,
    says: /\bkeywords?\b.{0,60}\bnot supported|not a valid .{0,30}\bschema|unknown name\b.{0,100} at .{0,100}\bcannot find field/i,
    wire: 'chat',
  },
];

/** Proxies hide the code. */
const unreadable = /\bencrypted[ _]content\b.{0,80}\bnot be (verified|decrypted)/i;

/** The limits of the output that a sentence names. */
const limits = /\bmax_(?:completion_)?tokens\b/;

/**
 * The other way to write a request for whose refusal one of its members is named; undefined for any other failure. Each is tried
 * once, and not both names of a limit.
 */
export function adjustmentFor(
  error: unknown,
  { wire, inference, adjustments }: UpstreamCall,
): Adjustment | undefined {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'caller') return undefined;
  const { exactCode, providerCode, param, path, publicMessage = '' } = error.details;
  const isSealed =
    exactCode === 'invalid_encrypted_content' ||
    providerCode === 'invalid_encrypted_content' ||
    unreadable.test(publicMessage);
  if (isSealed) {
    const isTried = adjustments?.has('no-encrypted-reasoning') ?? false;
    const hasAny = inference.items.some(({ type }) => type === 'reasoning');
    return isTried || !hasAny ? undefined : 'no-encrypted-reasoning';
  }
  const place = path ?? param ?? '';
  const sentence = publicMessage.slice(0, 400);
  if (inference.format && exactCode !== 'invalid_json_schema') {
    if (inference.tools.length > 0 && refusesFormatWithTools(sentence))
      return adjustments?.has('no-json-mode-with-tools') ? undefined : 'no-json-mode-with-tools';
    if (refusesFormat(place, sentence)) return otherFormat(inference.format, adjustments, sentence);
  }
  const limit = limits.exec(place)?.[0] ?? limits.exec(sentence)?.[0] ?? '';
  const found = rules.find(({ adjustment, named, says, wire: only }) => {
    if (only !== undefined && only !== (wire ?? inference.wire)) return false;
    const isLimit = adjustment === 'max_tokens' || adjustment === 'max_completion_tokens';
    return named.test(isLimit ? limit : `${place} ${sentence}`) && says.test(sentence);
  });
  if (found === undefined || adjustments?.has(found.adjustment)) return undefined;
  if (changesNothing[found.adjustment]?.(inference)) return undefined;
  const opposite = opposites[found.adjustment];
  return opposite !== undefined && adjustments?.has(opposite) ? undefined : found.adjustment;
}

const formatPath = /^(response_format|text\.format|output_config\.format|output_format)(\.type)?$/;
const formatName =
  /response[_ ]?(format|schema|mime_?[ _]?type)|\bjson[_ ](schema|object|mode)\b|output_(config\.)?format|structured[ _]outputs?|text\.format/i;
const formatRefusal = /unavailable|\bmust be\b|\bone of\b|leave it unset|enabled only/i;
/** A fault of one schema, or of the tools next to it, says nothing of others. */
const schemaFault =
  /invalid schema|json_schema['"`]?[./[:]\w|\.schema\b|propert|in context|the word|\b(tools?|functions?)\b/i;

/**
 * Whether a sentence says that a model has no schemas for its answers, or no JSON mode. Source: DeepSeek, Groq, LM Studio, OpenAI and
 * xAI in diegosouzapw/OmniRoute#9992, BerriAI/litellm#31466, dzhng/deep-research#127, lmstudio-ai/lmstudio-bug-tracker#189,
 * openai/openai-dotnet#276, BerriAI/litellm#6610.
 */
function refusesFormat(place: string, sentence: string): boolean {
  const isNamed = place === '' ? formatName.test(sentence) : formatPath.test(place);
  return (
    isNamed && (formatRefusal.test(sentence) || saysUnsupported.test(sentence)) && !schemaFault.test(sentence)
  );
}

const notBoth =
  /incompatible|not compatible|mutually exclusive|can( ?not|['’]t)\b|unsupported|not (supported|allowed)/i;

/**
 * Whether a sentence says that a model takes a format for its answers or tools. Source: agno-agi/agno#1065, vercel/ai#16540,
 * googleapis/python-genai#867, symfony/ai#803.
 */
function refusesFormatWithTools(sentence: string): boolean {
  return (
    /\btools?\b|\bfunction[ -]call/i.test(sentence) && formatName.test(sentence) && notBoth.test(sentence)
  );
}

/** JSON mode in place of a schema, the schema of any object where there is no JSON mode, and instructions where there is neither. */
function otherFormat(
  format: OutputFormat,
  tried: ReadonlySet<Adjustment> | undefined,
  sentence: string,
): Adjustment | undefined {
  const isUntried = !tried?.has('json-mode') && !tried?.has('json-mode-as-schema');
  if (isUntried && format.type === 'json_schema') return 'json-mode';
  if (isUntried && sentence.includes('json_schema')) return 'json-mode-as-schema';
  return tried?.has('no-json-mode') ? undefined : 'no-json-mode';
}

const changesNothing: Partial<Record<Adjustment, (inference: Inference) => boolean>> = {
  'user-last': (inference) => withUserLast(inference) === inference,
  'user-message': (inference) => withUserMessage(inference) === inference,
  'plain-schemas': ({ tools }) => tools.length === 0,
  'short-descriptions': ({ tools }) => tools.length === 0,
  'no-named-tool': ({ toolChoice }) => toolChoice?.mode !== 'function',
  'joined-texts': ({ body }) =>
    !listOf(body.messages).some((message) => isObject(message) && Array.isArray(message.content)),
};

const opposites: Partial<Record<Adjustment, Adjustment>> = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
  'reasoning-history': 'no-reasoning-history',
  'no-reasoning-history': 'reasoning-history',
};

/** Whether later calls need the adjustment, too: what one conversation has says nothing of the others. */
export function isLasting(adjustment: Adjustment): boolean {
  return adjustment !== 'no-encrypted-reasoning';
}

/** What of the caller's an adjustment leaves out and has an effect: the promise that arguments match their schema. */
export function droppedBy(adjustment: Adjustment, body: Json): Dropped[] {
  if (adjustment === 'no-forced-thinking')
    return typeof body.reasoning_effort === 'string' ? [{ param: 'reasoning_effort' }] : [];
  const isLoose = adjustment === 'no-strict-tools' || adjustment === 'plain-schemas';
  if (!isLoose && adjustment !== 'short-descriptions') return [];
  return listOf(body.tools).flatMap((tool, at): Dropped[] => {
    if (!isObject(tool)) return [];
    const path = `tools[${at}]`;
    if (isLoose && tool.strict === true) return [{ param: `${path}.strict` }];
    const [named, place] = isObject(tool.function) ? [tool.function, `${path}.function`] : [tool, path];
    if (isLoose) return named.strict === true ? [{ param: `${place}.strict` }] : [];
    const { description } = named;
    const isLong = typeof description === 'string' && description.length > toolDescriptionCharsMax;
    return isLong ? [{ param: `${place}.description` }] : [];
  });
}
