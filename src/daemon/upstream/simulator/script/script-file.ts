import { type Static, Type } from 'typebox';

/*
 * The format of script files. Faults quote each `description` as what is expected.
 */

const text = Type.String({ description: 'text' });
const names = Type.Union([text, Type.Array(text, { description: 'a list of texts' })]);
const count = Type.Integer({ minimum: 0, description: 'a whole number' });

const textMatch = Type.Object(
  { contains: Type.Optional(text), equals: Type.Optional(text), matches: Type.Optional(text) },
  { additionalProperties: false, minProperties: 1, description: 'a map of contains, equals or matches' },
);

const when = Type.Object(
  {
    model: Type.Optional(names),
    message: Type.Optional(Type.Union([text, textMatch])),
    system: Type.Optional(Type.Union([text, textMatch])),
    tool_result: Type.Optional(
      Type.Union([
        text,
        Type.Literal(true, { description: 'true' }),
        Type.Object(
          { name: Type.Optional(text), ...textMatch.properties },
          { additionalProperties: false, description: 'a map of name, contains, equals or matches' },
        ),
      ]),
    ),
    turn: Type.Optional(Type.Integer({ minimum: 1, description: 'a whole number from 1' })),
    tools: Type.Optional(Type.Union([Type.Boolean({ description: 'true or false' }), text])),
    images: Type.Optional(Type.Boolean({ description: 'true or false' })),
  },
  { additionalProperties: false, description: 'a map of conditions' },
);

/** Values of `error.kind` in a rule: the kinds of UpstreamFailure with `_` in place of `-`. */
const errorKinds = [
  'caller',
  'unknown_model',
  'authentication',
  'forbidden',
  'billing',
  'rate_limited',
  'server',
  'timeout',
  'network',
  'broken',
] as const;

const error = Type.Object(
  {
    kind: Type.Optional(Type.Enum([...errorKinds], { description: `one of ${errorKinds.join(', ')}` })),
    status: Type.Optional(
      Type.Integer({ minimum: 400, maximum: 599, description: 'a status from 400 to 599' }),
    ),
    message: Type.Optional(text),
    retry_after: Type.Optional(Type.Number({ minimum: 0, description: 'a number of seconds' })),
  },
  { additionalProperties: false, description: 'a map of kind, status, message or retry_after' },
);

const toolCall = Type.Object(
  {
    name: text,
    arguments: Type.Optional(
      Type.Union([text, Type.Record(Type.String(), Type.Unknown(), { description: 'a map' })]),
    ),
  },
  { additionalProperties: false, description: 'a map of name and arguments' },
);

const usage = Type.Object(
  {
    input_tokens: Type.Optional(count),
    cached_tokens: Type.Optional(count),
    cache_write_tokens: Type.Optional(count),
    output_tokens: Type.Optional(count),
    reasoning_tokens: Type.Optional(count),
  },
  { additionalProperties: false, description: 'a map of token counts' },
);

const finishReasons = ['stop', 'max_output_tokens', 'content_filter'] as const;

const reply = {
  reply: Type.Optional(text),
  json: Type.Optional(Type.Unknown()),
  tool_calls: Type.Optional(Type.Array(toolCall, { minItems: 1, description: 'a list of calls' })),
  reasoning: Type.Optional(names),
  refusal: Type.Optional(text),
  error: Type.Optional(error),
  latency_ms: Type.Optional(
    Type.Number({ minimum: 0, maximum: 600_000, description: 'milliseconds from 0 to 600000' }),
  ),
  tokens_per_second: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 100_000, description: 'a number above 0, at most 100000' }),
  ),
  break_after: Type.Optional(count),
  usage: Type.Optional(usage),
  finish: Type.Optional(Type.Enum([...finishReasons], { description: `one of ${finishReasons.join(', ')}` })),
};

const ReplyFile = Type.Object(reply, { additionalProperties: false, description: 'a map' });

const RuleFile = Type.Object(
  {
    name: Type.Optional(text),
    when: Type.Optional(when),
    once: Type.Optional(Type.Boolean({ description: 'true or false' })),
    times: Type.Optional(Type.Integer({ minimum: 1, description: 'a whole number from 1' })),
    ...reply,
  },
  { additionalProperties: false, description: 'a map' },
);

export const ScriptFile = Type.Object(
  {
    strict: Type.Optional(Type.Boolean({ description: 'true or false' })),
    models: Type.Optional(
      Type.Array(Type.String({ pattern: '^sim/.+', description: 'text that starts with sim/' }), {
        description: 'a list of model names',
      }),
    ),
    rules: Type.Optional(Type.Array(RuleFile, { description: 'a list of rules' })),
    default: Type.Optional(ReplyFile),
  },
  { additionalProperties: false, description: 'a map with rules' },
);

export type ScriptFile = Static<typeof ScriptFile>;
export type ReplyFile = Static<typeof ReplyFile>;
export type WhenFile = Static<typeof when>;
export type TextMatchFile = Static<typeof textMatch>;
export type ToolCallFile = Static<typeof toolCall>;
export type UsageFile = Static<typeof usage>;
export type ErrorFile = Static<typeof error>;

/** A valid script. */
export interface SimulatorScript extends ScriptFile {
  fileName: string;
}
