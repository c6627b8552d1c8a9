import type { Tokens } from '../../../../shared/money.ts';
import type { UpstreamFailureKind } from '../../../features/inference/upstream.ts';
import type { Condition, Reply, Rule, ScriptedError, SimulatorScript, TextMatch } from './script.ts';
import type { ReplyFile, RuleFile, ScriptFile, TextMatchFile, WhenFile } from './script-file.ts';

/** A checked file as the simulator uses it. */
export function readScript(file: ScriptFile, fileName: string): SimulatorScript {
  return {
    fileName,
    strict: file.strict ?? false,
    models: file.models ?? [],
    rules: (file.rules ?? []).map(readRule),
    otherwise: file.default && readReply(file.default),
  };
}

function readRule(rule: RuleFile): Rule {
  return {
    condition: readCondition(rule.when ?? {}),
    reply: readReply(rule),
    times: rule.times ?? (rule.once ? 1 : Number.POSITIVE_INFINITY),
  };
}

function readCondition({ model, message, system, tool_result, turn, tools, images }: WhenFile): Condition {
  return {
    models: model === undefined ? undefined : [model].flat().map(globPattern),
    message: readTextMatch(message),
    system: readTextMatch(system),
    toolResult: tool_result === undefined ? undefined : readToolResult(tool_result),
    turn,
    tools,
    images,
  };
}

function readToolResult(match: NonNullable<WhenFile['tool_result']>): Condition['toolResult'] {
  if (match === true) return {};
  if (typeof match === 'string') return { text: { contains: match } };
  const { name, ...text } = match;
  return { name, text: readTextMatch(text) };
}

function readTextMatch(match: string | TextMatchFile | undefined): TextMatch | undefined {
  if (match === undefined || typeof match === 'string')
    return match === undefined ? match : { contains: match };
  const { contains, equals, matches } = match;
  return { contains, equals, matches: matches === undefined ? undefined : new RegExp(matches, 'iu') };
}

/** `sim/*` → all names that start so; `*` stands for any characters, `?` for one. */
function globPattern(glob: string): RegExp {
  const pattern = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${pattern}$`, 'i');
}

function readReply(reply: ReplyFile): Reply {
  return {
    text: reply.reply,
    json: 'json' in reply ? { value: reply.json } : undefined,
    calls: reply.tool_calls?.map(({ name, arguments: given }) => ({ name, arguments: given })),
    reasoning: reply.reasoning === undefined ? undefined : [reply.reasoning].flat(),
    refusal: reply.refusal,
    error: reply.error && readError(reply.error),
    latencyMs: reply.latency_ms,
    tokensPerSecond: reply.tokens_per_second,
    breakAfterTokens: reply.break_after,
    tokens: reply.usage && readTokens(reply.usage),
    finish: reply.finish,
  };
}

function readTokens(usage: NonNullable<ReplyFile['usage']>): Partial<Tokens> {
  const tokens: Partial<Tokens> = {
    input: usage.input_tokens,
    cachedInput: usage.cached_tokens,
    cacheWrite: usage.cache_write_tokens,
    output: usage.output_tokens,
    reasoning: usage.reasoning_tokens,
  };
  // A count that is left out must not hide the one that was made.
  return Object.fromEntries(Object.entries(tokens).filter(([, count]) => count !== undefined));
}

const statuses: Partial<Record<UpstreamFailureKind, number>> = {
  caller: 400,
  'unknown-model': 404,
  authentication: 401,
  billing: 402,
  'rate-limited': 429,
  server: 500,
  timeout: 504,
};

function readError({ kind, status, message, retry_after }: NonNullable<ReplyFile['error']>): ScriptedError {
  const named = kind?.replaceAll('_', '-') as UpstreamFailureKind | undefined;
  const known = named ?? (status === undefined ? 'server' : kindOfStatus(status));
  const said = message ?? `The simulator was told to fail with ${kind ?? status ?? 'an error'}.`;
  return {
    kind: known,
    message: said,
    details: {
      status: status ?? statuses[known],
      retryAfterSeconds: retry_after,
      publicMessage: known === 'caller' ? said : undefined,
      code: known === 'caller' ? 'invalid_request' : undefined,
    },
  };
}

function kindOfStatus(status: number): UpstreamFailureKind {
  if (status === 401 || status === 403) return 'authentication';
  if (status === 402) return 'billing';
  if (status === 404) return 'unknown-model';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 429) return 'rate-limited';
  return status < 500 ? 'caller' : 'server';
}
