import { type Static, Type } from 'typebox';
import { decisionPaths } from '../constants/decision-paths.ts';
import { endpoint } from './endpoint.ts';
import { CallHeaders, idempotencyHeaders, modelCallHeaders } from './model-call.ts';
import { AnyObject, Count, everyone, mapOf, nullable } from './vocabulary.ts';

/*
 * Typed decisions in two formats: OpenAI's Decisions API (an array of questions) and System One (a map of questions).
 * Limits on sizes have error codes of their own, so handlers check them.
 */

/** Sizes in bytes of UTF-8. */
export const decisionLimits = {
  bodyBytes: 256 * 1024,
  inputBytes: 128 * 1024,
  questionBytes: 32 * 1024,
  questions: 64,
  choicesMin: 2,
  choices: 255,
  levelsMin: 2,
  levels: 10,
  nameBytes: 64,
  valueBytes: 128,
  modelBytes: 128,
  stateDepth: 32,
} as const;

/** The models that are answered by the host's own engines; `service/decide` falls back to other models. */
export const decisionModels = ['service/decide', 'engine', 'engine-flash'] as const;

export type DecisionModel = (typeof decisionModels)[number];

/** Whether a statement is true, which of several choices applies, or which of several ordered levels. */
export const questionTypes = ['predicate', 'choice', 'score'] as const;

export type QuestionType = (typeof questionTypes)[number];

/** Milliseconds for a whole decision if the caller names none. */
export const decisionDeadlineMs = 25_000;

/** Answers of a model without token probabilities that are averaged. */
export const decisionSamplesMax = 9;

const closed = { additionalProperties: false } as const;

const Model = Type.String({
  minLength: 1,
  maxLength: decisionLimits.modelBytes,
  description: `\`service/decide\`, \`engine\`, \`engine-flash\`, or any model of \`GET /v1/models\`; at most ${decisionLimits.modelBytes} bytes.`,
});

const Instructions = Type.String({
  minLength: 1,
  description: `What is asked, in plain words. A question is at most ${decisionLimits.questionBytes / 1024} KiB of JSON.`,
});

const Name = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: decisionLimits.nameBytes,
    description: `Unique in the request, at most ${decisionLimits.nameBytes} bytes. Models do not see it.`,
  }),
);

const Described = { description: Type.Optional(Type.String()) };

const PredicateQuestion = Type.Object(
  { type: Type.Literal('predicate'), instructions: Instructions, name: Name },
  { ...closed, $id: 'PredicateQuestion', description: 'How probable is it that a statement is true?' },
);

const ChoiceQuestion = Type.Object(
  {
    type: Type.Literal('choice'),
    instructions: Instructions,
    choices: Type.Array(
      Type.Object(
        {
          value: Type.Union([
            Type.String({ minLength: 1, maxLength: decisionLimits.valueBytes }),
            Type.Boolean(),
          ]),
          ...Described,
        },
        closed,
      ),
      {
        minItems: decisionLimits.choicesMin,
        description: `${decisionLimits.choicesMin} to ${decisionLimits.choices} different values; a string and a boolean with the same text differ. A value is at most ${decisionLimits.valueBytes} bytes.`,
      },
    ),
    name: Name,
  },
  { ...closed, $id: 'ChoiceQuestion', description: 'Which of the choices applies?' },
);

const ScoreQuestion = Type.Object(
  {
    type: Type.Literal('score'),
    instructions: Instructions,
    levels: Type.Array(Type.Object({ label: Type.String({ minLength: 1 }), ...Described }, closed), {
      minItems: decisionLimits.levelsMin,
      description: `${decisionLimits.levelsMin} to ${decisionLimits.levels} levels with different labels, lowest first.`,
    }),
    name: Name,
  },
  { ...closed, $id: 'ScoreQuestion', description: 'Which of the ordered levels applies?' },
);

const InputMessage = Type.Object(
  {
    type: Type.Optional(Type.Literal('message')),
    role: Type.Literal('user'),
    content: Type.Union([
      Type.String(),
      Type.Array(
        Type.Union([
          Type.Object({ type: Type.Literal('input_text'), text: Type.String() }, closed),
          Type.Object(
            {
              type: Type.Literal('input_image'),
              image_url: Type.String(),
              detail: Type.Optional(nullable(Type.String())),
            },
            closed,
          ),
        ]),
      ),
    ]),
  },
  closed,
);

/** The extension member `service` of a decision. */
export const DecisionOptions = Type.Object(
  {
    pay: Type.Optional(
      Type.Enum(['mine', 'ours'], {
        description:
          '`mine`: ask the model with the workspace’s own provider key. `ours`: only models that the host offers for decisions.',
      }),
    ),
    debias: Type.Optional(
      Type.Enum(['auto', 'off', 'full'], {
        description:
          'How the influence of the order of options is removed: `full` asks for every rotation of the options, `auto` only for up to four options and otherwise divides by the measured preference for positions, `off` asks once.',
      }),
    ),
    samples: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: decisionSamplesMax,
        description:
          'How many answers about the same options are averaged where a model has no token probabilities; by default 5, or up to 10 for as many options. More than ten options are asked about in groups first.',
      }),
    ),
    deadline_ms: Type.Optional(
      Type.Integer({
        minimum: 1000,
        maximum: 60_000,
        description: `For the whole decision; default ${decisionDeadlineMs}.`,
      }),
    ),
  },
  { ...closed, $id: 'DecisionOptions' },
);

export const CreateDecision = Type.Object(
  {
    model: Model,
    input: Type.Union([Type.String(), Type.Array(InputMessage, { minItems: 1 })], {
      description: `The evidence: text or user messages, at most ${decisionLimits.inputBytes / 1024} KiB of JSON. It is passed on as data, not as instructions.`,
    }),
    questions: Type.Array(Type.Union([PredicateQuestion, ChoiceQuestion, ScoreQuestion]), {
      minItems: 1,
      description: `At most ${decisionLimits.questions}, unless the host sets another limit. Questions do not see each other.`,
    }),
    safety_identifier: Type.Optional(nullable(Type.String({ description: 'Accepted, and not passed on.' }))),
    service: Type.Optional(DecisionOptions),
  },
  closed,
);

const Probability = Type.Number({ minimum: 0, maximum: 1 });
const AnswerName = nullable(Type.String({ description: 'The name of the question.' }));

const PredicateAnswer = Type.Object(
  { type: Type.Literal('predicate'), name: AnswerName, probability: Probability },
  { $id: 'PredicateAnswer' },
);

const ChoiceAnswer = Type.Object(
  {
    type: Type.Literal('choice'),
    name: AnswerName,
    choice: Type.Union([Type.String(), Type.Boolean()], {
      description: 'The most probable value; the first of several.',
    }),
    confidence: Type.Number({ minimum: 0, maximum: 1, description: 'The highest of the probabilities.' }),
    probabilities: Type.Array(
      Type.Object({ value: Type.Union([Type.String(), Type.Boolean()]), probability: Probability }),
      { description: 'In the order of the choices. They add up to 1.' },
    ),
  },
  { $id: 'ChoiceAnswer' },
);

const ScoreAnswer = Type.Object(
  {
    type: Type.Literal('score'),
    name: AnswerName,
    score: Type.Number({ minimum: 0, description: 'The expected level: 0 is the first one.' }),
    confidence: Type.Number({ minimum: 0, maximum: 1, description: 'The highest of the probabilities.' }),
    probabilities: Type.Array(
      Type.Object({ value: Type.Integer({ minimum: 0 }), label: Type.String(), probability: Probability }),
      { description: 'In the order of the levels. They add up to 1.' },
    ),
  },
  { $id: 'ScoreAnswer' },
);

const RefusedAnswer = Type.Object(
  { type: Type.Literal('refusal'), name: AnswerName },
  { $id: 'RefusedAnswer', description: 'The model declined to answer this question.' },
);

export const Answer = Type.Union([PredicateAnswer, ChoiceAnswer, ScoreAnswer, RefusedAnswer]);

/** A source that was asked before the one that answered. */
export const SourceAttempt = Type.Object(
  {
    source: Type.String({ description: '`engine`, `peer:NAME` or the name of a provider.' }),
    outcome: Type.String({
      description: 'Why it did not answer: `timeout`, `unreachable`, `rate_limited`, `benched`, …',
    }),
    ms: Type.Number({ minimum: 0 }),
  },
  { $id: 'SourceAttempt' },
);

export const Diagnostics = Type.Object(
  {
    mass: Type.Optional(
      Type.Number({
        description:
          'The probability that the model gave to the offered options together, before they were scaled to 1.',
      }),
    ),
    permutations: Type.Optional(
      Type.Integer({ minimum: 1, description: 'In how many orders the options were shown.' }),
    ),
    truncated: Type.Optional(
      Type.Boolean({
        description: 'Some options were not among the reported tokens, and got an upper bound.',
      }),
    ),
    samples: Type.Optional(Type.Integer({ minimum: 1, description: 'How many answers were sampled.' })),
    agreement: Type.Optional(
      Type.Number({ description: 'The share of samples that prefer the most frequently preferred option.' }),
    ),
    temperature: Type.Optional(
      Type.Number({ description: 'The fitted temperature that the probabilities were scaled by.' }),
    ),
  },
  {
    $id: 'DecisionDiagnostics',
    description: 'How one answer was found. Members that do not apply are absent.',
  },
);

/** How a decision was made. */
export const DecisionService = Type.Object(
  {
    requested_model: Type.String(),
    answered_by: Type.String({
      description: '`engine`, `engine-flash`, `peer:NAME` or the name of a provider.',
    }),
    method: Type.Enum(['native', 'token_probabilities', 'sampled'], {
      description:
        '`native`: by the decision endpoint of the source. `token_probabilities`: from the probabilities of the next token. `sampled`: from probabilities that the model wrote down, averaged over samples.',
    }),
    calibrated: Type.Boolean({ description: 'Whether every answer was scaled by a fitted temperature.' }),
    latency_ms: Type.Number({ minimum: 0 }),
    attempts: Type.Array(SourceAttempt, { description: 'Sources that failed before, in order.' }),
    diagnostics: Type.Array(Diagnostics, { description: 'One per question, in order.' }),
  },
  { $id: 'DecisionService' },
);

const Usage = Type.Object({
  input_tokens: Count,
  input_tokens_details: Type.Object({ cached_tokens: Count, cache_write_tokens: Count }),
  output_tokens: Count,
  output_tokens_details: Type.Object({ reasoning_tokens: Count }),
  total_tokens: Count,
});

export const Decision = Type.Object(
  {
    id: Type.String({ description: '`dec_…`' }),
    object: Type.Literal('decision'),
    model: Type.String({ description: 'The model that answered.' }),
    answers: Type.Array(Answer, { description: 'One per question, in order.' }),
    usage: Usage,
    service: DecisionService,
  },
  { $id: 'Decision' },
);

const headers = Type.Object({
  ...CallHeaders.properties,
  'X-Service-Deadline-Ms': Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,4}$',
      description: 'From a peer: how many milliseconds it waits. An answer is not looked for any longer.',
    }),
  ),
  'X-Service-Via': Type.Optional(
    Type.String({
      pattern: '^[0-9A-Za-z_-]{1,64}(, ?[0-9A-Za-z_-]{1,64}){0,15}$',
      description:
        'From a peer: the ids of the nodes that the request came through. A request that came through this node is rejected.',
    }),
  ),
  'X-Decision-Order': Type.Optional(
    Type.Enum(['peer', 'hosted'], {
      description: '`peer` asks connected peers first, `hosted` only the host’s own engine.',
    }),
  ),
});

const { 'x-service-model': servedModel } = modelCallHeaders;

const shared = {
  method: 'POST',
  tag: 'Decisions',
  access: everyone,
  unauthorizedType: 'unauthorized',
  headers,
  bodyLimit: decisionLimits.bodyBytes,
  responseHeaders: {
    'x-service-model': servedModel,
    'x-service-upstream': '`engine`, `peer:NAME` or the provider that answered.',
    'x-service-cost-usd': 'Always `0`: decisions are free.',
    ...idempotencyHeaders,
  },
  errors: ['too_many_questions', 'too_many_options', 'model_not_found', 'agent_daily_limit'],
} as const;

export const createDecision = endpoint({
  ...shared,
  id: 'createDecision',
  path: decisionPaths.decisions,
  summary: 'Answer typed questions about an input.',
  description: [
    'Returns probabilities instead of text: that a statement is true, for each of several choices, or for ordered levels.',
    'The format is that of OpenAI’s Decisions API. No key is needed, and decisions are free: models that would cost the host',
    'money are asked only if the host offers them for decisions, or with the workspace’s own provider key. Every question is',
    'answered, or the request fails as a whole; a question that the model declines has an answer of type `refusal`.',
  ].join(' '),
  body: CreateDecision,
  result: Decision,
});

const SystemOneQuestion = Type.Union([
  Type.Object(
    {
      type: Type.Literal('noul'),
      instructions: Instructions,
      criteria: Type.Optional(
        nullable(
          Type.Object(
            {
              true: Type.Optional(nullable(Type.String())),
              false: Type.Optional(nullable(Type.String())),
            },
            { ...closed, description: 'When the answer is true, and when it is false.' },
          ),
        ),
      ),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('choice'),
      instructions: Instructions,
      criteria: mapOf({ minLength: 1 }, nullable(Type.String()), {
        minProperties: decisionLimits.choicesMin,
        description: 'The options by id, with a description or null.',
      }),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal('score'),
      instructions: Instructions,
      criteria: Type.Array(Type.String({ minLength: 1 }), {
        minItems: decisionLimits.levelsMin,
        uniqueItems: true,
        description: 'The levels, lowest first.',
      }),
    },
    closed,
  ),
]);

export const CreateSystemOne = Type.Object(
  {
    model: Model,
    state: Type.Union([Type.String(), AnyObject], {
      description: `The evidence: text or a JSON object, at most ${decisionLimits.inputBytes / 1024} KiB and ${decisionLimits.stateDepth} levels deep.`,
    }),
    questions: mapOf({ minLength: 1 }, SystemOneQuestion, {
      minProperties: 1,
      description: `By id of at most ${decisionLimits.nameBytes} bytes.`,
    }),
    service: Type.Optional(DecisionOptions),
  },
  closed,
);

const SystemOneAnswer = Type.Union([
  Type.Object({ type: Type.Literal('noul'), noul: Probability }),
  Type.Object({
    type: Type.Literal('choice'),
    choice: Type.String(),
    confidence: Probability,
    probabilities: Type.Record(Type.String(), Probability),
  }),
  Type.Object({
    type: Type.Literal('score'),
    score: Type.Number({ minimum: 0 }),
    confidence: Probability,
    legend: Type.Array(Type.String()),
    probabilities: Type.Record(Type.String(), Probability),
  }),
  Type.Object({ type: Type.Literal('refusal') }),
]);

export const SystemOneResult = Type.Object(
  {
    model: Type.String(),
    answers: Type.Record(Type.String(), SystemOneAnswer),
    usage: Type.Object({ input_tokens: Count, output_tokens: Count }),
    latency_ms: Type.Number({ minimum: 0 }),
    service: DecisionService,
  },
  { $id: 'SystemOneResult' },
);

export const createSystemOne = endpoint({
  ...shared,
  id: 'createSystemOne',
  path: decisionPaths.systemOne,
  summary: 'Answer typed questions, in the System One format.',
  description:
    'The same as `POST /v1/decisions` in the format of System One, with questions and answers by id. Diagnostics are in the order of the questions.',
  body: CreateSystemOne,
  result: SystemOneResult,
});

export type CreateDecision = Static<typeof CreateDecision>;
export type CreateSystemOne = Static<typeof CreateSystemOne>;
export type Decision = Static<typeof Decision>;
export type DecisionAnswer = Static<typeof Answer>;
export type DecisionDiagnostics = Static<typeof Diagnostics>;
export type DecisionOptions = Static<typeof DecisionOptions>;
export type DecisionService = Static<typeof DecisionService>;
export type SystemOneResult = Static<typeof SystemOneResult>;
