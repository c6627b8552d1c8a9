import type { Tokens } from '../../../../shared/money.ts';
import type { UpstreamFailureKind } from '../../../features/inference/upstream.ts';
import { readYaml, type YamlFault } from '../../../yaml/read-yaml.ts';
import { type SchemaFault, schemaFaults } from '../../../yaml/schema-faults.ts';
import type { Condition, Reply, Rule, ScriptedError, SimulatorScript, TextMatch } from './script.ts';
import {
  type ReplyFile,
  type RuleFile,
  ScriptFile,
  type TextMatchFile,
  type WhenFile,
} from './script-file.ts';

export type ParsedScript = { script: SimulatorScript } | { faults: YamlFault[] };

/** Parses a script, whose format is described in `docs/simulator.md`. Returns all faults together. */
export function parseSimulatorScript(yamlText: string, fileName: string): ParsedScript {
  const read = readYaml(yamlText, fileName);
  if ('faults' in read) return read;
  const shape = schemaFaults(ScriptFile, read.value, { whole: 'the script' });
  // Only valid shapes are checked for contradictions, to report each fault once.
  const faults = shape.length > 0 ? shape : contradictions(read.value as ScriptFile);
  if (faults.length > 0) return { faults: read.placed(faults) };
  return { script: readScript(read.value as ScriptFile, fileName) };
}

/** Settings that are valid on their own but contradict each other. */
export function contradictions(file: ScriptFile): SchemaFault[] {
  const faults: SchemaFault[] = [];
  for (const [at, rule] of (file.rules ?? []).entries()) {
    const path = ['rules', at];
    if (rule.once !== undefined && rule.times !== undefined) {
      faults.push({ path: [...path, 'times'], isKey: true, message: 'give `once` or `times`, not both' });
    }
    faults.push(...replyContradictions(rule, path), ...brokenPatterns(rule.when ?? {}, [...path, 'when']));
  }
  if (file.default) faults.push(...replyContradictions(file.default, ['default']));
  if (file.strict && file.default) {
    const message = '`strict` fails what no rule matches, so `default` would never answer: drop one of them';
    faults.push({ path: ['default'], isKey: true, message });
  }
  if (Object.keys(file).length === 0) faults.push({ path: [], isKey: false, message: 'the script is empty' });
  return faults;
}

function replyContradictions(reply: ReplyFile, path: (string | number)[]): SchemaFault[] {
  const faults: SchemaFault[] = [];
  const given = (keys: readonly (keyof ReplyFile)[]) => keys.filter((key) => reply[key] !== undefined);
  const fault = (key: string, message: string) => faults.push({ path: [...path, key], isKey: true, message });

  const [, second] = given(['reply', 'json']);
  if (second) fault(second, 'give `reply` or `json`, not both: each is the text of the answer');
  const content = given(['reply', 'json', 'tool_calls', 'reasoning', 'refusal', 'usage', 'finish']);
  if (reply.error && reply.break_after === undefined && content[0]) {
    fault(
      content[0],
      `an error comes instead of an answer: drop \`${content[0]}\`, or add \`break_after\` to fail in the middle of it`,
    );
  }
  if (reply.break_after !== undefined) {
    for (const key of given(['usage', 'finish'])) {
      fault(key, `an answer that breaks off has no \`${key}\``);
    }
  }
  return faults;
}

/** Invalid regular expressions, which are case-insensitive and in Unicode mode; reported with the engine's message. */
function brokenPatterns(when: WhenFile, path: (string | number)[]): SchemaFault[] {
  return (['message', 'system', 'tool_result'] as const).flatMap((key) => {
    const match = when[key];
    if (typeof match !== 'object' || match.matches === undefined) return [];
    try {
      new RegExp(match.matches, 'iu');
      return [];
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return [{ path: [...path, key, 'matches'], isKey: false, message }];
    }
  });
}

/** Converts a valid file to a script. */
export function readScript(file: ScriptFile, fileName: string): SimulatorScript {
  return {
    fileName,
    strict: file.strict ?? false,
    models: file.models ?? [],
    rules: (file.rules ?? []).map(readRule),
    fallback: file.default && readReply(file.default),
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

/** Converts a glob to a pattern: `*` matches any characters, `?` exactly one. */
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
  // An omitted count must not override the generated one.
  return Object.fromEntries(Object.entries(tokens).filter(([, count]) => count !== undefined));
}

const statusByKind: Partial<Record<UpstreamFailureKind, number>> = {
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
  const failureKind = named ?? (status === undefined ? 'server' : kindOfStatus(status));
  const text = message ?? `The script fails this call with ${kind ?? status ?? 'an error'}.`;
  return {
    kind: failureKind,
    message: text,
    details: {
      status: status ?? statusByKind[failureKind],
      retryAfterSeconds: retry_after,
      publicMessage: failureKind === 'caller' ? text : undefined,
      code: failureKind === 'caller' ? 'invalid_request' : undefined,
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
