import { toolDescriptionCharsMax } from '../../../../shared/constants/tool-descriptions.ts';
import { RecentMap } from '../../../../shared/recent-map.ts';
import type { World } from '../../../base/world.ts';
import { type Adjustment, type UpstreamCall, UpstreamFailure } from '../../upstreams/upstream.ts';
import { hasOption, type TuningOption } from './options.ts';

/** The options that a provider's refusal may name, by the field and by its mention in a sentence. */
const names: readonly (readonly [TuningOption, field: RegExp, mention: RegExp])[] = [
  [
    'reasoning',
    /^(reasoning|reasoning_effort|thinking|output_config\.effort)\b/,
    /\b(reasoning|thinking|effort)\b/i,
  ],
  ['temperature', /^temperature$/, /\btemperature\b/i],
  ['topP', /^top_p$/, /\btop_?p\b/i],
  ['topK', /^top_k$/, /\btop_?k\b/i],
  ['presencePenalty', /^presence_penalty$/, /\bpresence_?penalty\b/i],
  ['frequencyPenalty', /^frequency_penalty$/, /\bfrequency_?penalty\b/i],
  ['logitBias', /^logit_bias$/, /\blogit_?bias\b/i],
  ['logprobs', /^(top_)?logprobs$/, /\b(top_?)?logprobs\b/i],
  ['verbosity', /^(text\.)?verbosity$/, /\bverbosity\b/i],
  ['parallelToolCalls', /^parallel_tool_calls$/, /\bparallel_?tool_?calls\b/i],
  ['stop', /^stop(_sequences)?$/, /\bstop(_?sequences)?\b/i],
  ['seed', /^(random_)?seed$/, /\bseed\b/i],
];

/** Whether a sentence says that something is not supported at all, and not that its value is wrong. */
export const saysUnsupported =
  /not supported|unsupported|not support\b|not enabled|not available|deprecated|unrecognized|unknown (parameter|argument|field|name)|extra (inputs|fields)|not (permitted|allowed)|unexpected (keyword|field|property|parameter)|cannot find field/i;

/**
 * Whether a sentence says that a model takes one value of an option, or none with another. Source: Kimi and Anthropic behind other
 * gateways in countbot-ai/CountBot#61, cecli-dev/cecli#484, n8n-io/n8n#14288, workglow-dev/libs#746.
 */
const saysFixed =
  /\bonly -?\d[\d.]* is\b|may only be set to|\bunset\b|must not be set|can( ?not|['’]t) both\b/i;

/**
 * The option for which a provider refused a call that would work without it; undefined for any other failure. Models change,
 * and servers have others than their names suggest: what is not known beforehand shows here.
 */
export function refusedOption(error: unknown, { inference, wire }: UpstreamCall): TuningOption | undefined {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'caller') return undefined;
  const { code, param, publicMessage = '' } = error.details;
  const isRefused = code === 'unsupported_value' || saysUnsupported.test(publicMessage);
  // What Anthropic says of its own format is for the caller.
  const isOwn = inference.wire === 'messages' && wire === 'messages';
  if (!isRefused && (isOwn || !saysFixed.test(publicMessage))) return undefined;
  // Of the two, the temperature says more.
  if (/\bboth\b/.test(publicMessage) && /\btop_p\b/.test(publicMessage) && hasOption(inference, 'topP'))
    return 'topP';
  const found = names.find(([option, field, mention]) => {
    const isNamed = param ? field.test(param) : mention.test(publicMessage);
    // Decisions are read from log probabilities: another way to get them is better than an answer without.
    const isNeeded = option === 'logprobs' && inference.sampling.needsLogprobs;
    return isNamed && !isNeeded && hasOption(inference, option);
  });
  return found?.[0];
}

const rememberedMs = 60 * 60 * 1000;
const entriesMax = 1000;

interface Entry<Learned> {
  model: string;
  /** With the times at which each was learned. */
  learned: Map<Learned, number>;
  until: number;
}

/** What a model refused, as the host's owner sees it. */
export interface LearnedRefusal {
  /** The provider's name of the model. */
  model: string;
  /** What is left out of requests or written in another way. */
  member: string;
  /** Its other name, or the highest value that is accepted; null if it is left out, or added where it is missing. */
  becomes: string | null;
  change: 'left-out' | 'renamed' | 'added' | 'lowered';
  /** How long ago it was learned, and when it will be forgotten. */
  agoMs: number;
  leftMs: number;
}

/** Remembers what the models of an upstream refused, so that later calls need not be refused again. */
class Refusals<Learned> {
  readonly #clock: Pick<World, 'elapsed'>;
  readonly #entries = new RecentMap<string, Entry<Learned>>(entriesMax);

  constructor(clock: Pick<World, 'elapsed'>) {
    this.#clock = clock;
  }

  of(key: () => string): ReadonlySet<Learned> | undefined {
    const entry = this.#current(key);
    return entry && new Set(entry.learned.keys());
  }

  #current(key: () => string): Entry<Learned> | undefined {
    if (this.#entries.size === 0) return undefined;
    const entry = this.#entries.get(key());
    return entry !== undefined && this.#clock.elapsed() < entry.until ? entry : undefined;
  }

  add(model: string, key: () => string, learned: Learned): void {
    const now = this.#clock.elapsed();
    const all = new Map(this.#current(key)?.learned).set(learned, now);
    this.#entries.set(key(), { model, learned: all, until: now + rememberedMs });
  }

  list(now: number): { model: string; learned: Learned; agoMs: number; leftMs: number }[] {
    return [...this.#entries.values()]
      .filter(({ until }) => now < until)
      .flatMap(({ model, learned, until }) =>
        [...learned].map(([one, at]) => ({ model, learned: one, agoMs: now - at, leftMs: until - now })),
      );
  }
}

/** What the models of one upstream refused: options and other members of calls, ways to write a request, and longer answers. */
export class LearnedRefusals {
  readonly #options: Refusals<TuningOption>;
  readonly #adjustments: Refusals<Adjustment>;
  /** The most output that was accepted. */
  readonly #outputs: Refusals<number>;
  /** The effort in place of another. */
  readonly #efforts: Refusals<string>;
  /** Members that are not known. */
  readonly #members: Refusals<string>;
  readonly #clock: Pick<World, 'elapsed'>;

  constructor(clock: Pick<World, 'elapsed'>) {
    this.#clock = clock;
    this.#members = new Refusals(clock);
    this.#options = new Refusals(clock);
    this.#adjustments = new Refusals(clock);
    this.#outputs = new Refusals(clock);
    this.#efforts = new Refusals(clock);
  }

  optionsOf(call: UpstreamCall): Iterable<TuningOption> {
    return this.#options.of(() => keyOf(call)) ?? [];
  }

  addOption(call: UpstreamCall, option: TuningOption): void {
    this.#options.add(call.model, () => keyOf(call), option);
  }

  adjustmentsOf(call: UpstreamCall): ReadonlySet<Adjustment> | undefined {
    return this.#adjustments.of(() => modelOf(call));
  }

  addAdjustment(call: UpstreamCall, adjustment: Adjustment): void {
    this.#adjustments.add(call.model, () => modelOf(call), adjustment);
  }

  /** Of callers of the model's own format: those of others have members of other names. */
  membersOf(call: UpstreamCall): ReadonlySet<string> | undefined {
    return call.wire === call.inference.wire ? this.#members.of(() => modelOf(call)) : undefined;
  }

  addMember(call: UpstreamCall, member: string): void {
    this.#members.add(call.model, () => modelOf(call), member);
  }

  outputTokensMaxOf(call: UpstreamCall): number | undefined {
    const known = this.#outputs.of(() => modelOf(call));
    return known && Math.min(...known);
  }

  addOutputTokensMax(call: UpstreamCall, tokens: number): void {
    this.#outputs.add(call.model, () => modelOf(call), tokens);
  }

  effortOf(call: UpstreamCall): string | undefined {
    if (call.inference.reasoning?.effort === undefined) return undefined;
    return [...(this.#efforts.of(() => keyOf(call)) ?? [])].at(-1);
  }

  addEffort(call: UpstreamCall, effort: string): void {
    this.#efforts.add(call.model, () => keyOf(call), effort);
  }

  /** All that is remembered. */
  list(): LearnedRefusal[] {
    const now = this.#clock.elapsed();
    const all = [
      ...this.#options.list(now).map(({ learned, ...when }): LearnedRefusal => {
        const member = learned.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
        return { ...when, member, becomes: null, change: 'left-out' };
      }),
      ...this.#adjustments
        .list(now)
        .map(({ learned, ...when }): LearnedRefusal => ({ ...when, ...changes[learned] })),
      ...this.#members.list(now).map(({ learned, ...when }): LearnedRefusal => {
        return { ...when, member: learned, becomes: null, change: 'left-out' };
      }),
      ...this.#outputs.list(now).map(({ learned, ...when }): LearnedRefusal => {
        return { ...when, member: 'max_tokens', becomes: String(learned), change: 'lowered' };
      }),
      ...this.#efforts.list(now).map(({ learned, ...when }): LearnedRefusal => {
        return { ...when, member: 'reasoning_effort', becomes: learned, change: 'lowered' };
      }),
    ];
    return latestOf(all);
  }
}

/** Each member of a model once: of the formats, efforts and threads in which the model refused it, the latest. */
export function latestOf(all: readonly LearnedRefusal[]): LearnedRefusal[] {
  const latest = new Map<string, LearnedRefusal>();
  for (const one of all.toSorted((a, b) => b.agoMs - a.agoMs))
    latest.set([one.model, one.member, one.change].join('\n'), one);
  return [...latest.values()];
}

const changes: Readonly<Record<Adjustment, Pick<LearnedRefusal, 'member' | 'becomes' | 'change'>>> = {
  max_tokens: { member: 'max_completion_tokens', becomes: 'max_tokens', change: 'renamed' },
  max_completion_tokens: { member: 'max_tokens', becomes: 'max_completion_tokens', change: 'renamed' },
  'no-stream-options': { member: 'stream_options', becomes: null, change: 'left-out' },
  'reasoning-history': { member: 'messages[].reasoning_content', becomes: null, change: 'added' },
  'no-reasoning-history': { member: 'messages[].reasoning_content', becomes: null, change: 'left-out' },
  'no-encrypted-reasoning': { member: 'encrypted_content', becomes: null, change: 'left-out' },
  'no-strict-tools': { member: 'tools[].strict', becomes: null, change: 'left-out' },
  'no-forced-thinking': { member: 'thinking, with tool_choice', becomes: null, change: 'left-out' },
  'user-last': { member: 'messages[]', becomes: null, change: 'added' },
  'user-message': { member: 'messages[].role: user', becomes: null, change: 'added' },
  'alternating-turns': { member: 'messages[].role: assistant', becomes: null, change: 'added' },
  'no-item-status': { member: 'input[].status', becomes: null, change: 'left-out' },
  'item-status': { member: 'input[].status', becomes: null, change: 'added' },
  'no-system-role': { member: 'messages[].role: system', becomes: 'user', change: 'renamed' },
  'joined-texts': { member: 'messages[].content[]', becomes: 'messages[].content', change: 'renamed' },
  'no-named-tool': { member: 'tool_choice.function', becomes: 'required', change: 'renamed' },
  'json-mode': { member: 'response_format: json_schema', becomes: 'json_object', change: 'renamed' },
  'json-mode-as-schema': {
    member: 'response_format: json_object',
    becomes: 'json_schema',
    change: 'renamed',
  },
  'no-json-mode': { member: 'response_format', becomes: null, change: 'left-out' },
  'no-json-mode-with-tools': { member: 'response_format, with tools', becomes: null, change: 'left-out' },
  'short-descriptions': {
    member: 'tools[].function.description',
    becomes: String(toolDescriptionCharsMax),
    change: 'lowered',
  },
  'plain-schemas': {
    member: 'tools[].function.parameters: all but types, names and texts',
    becomes: null,
    change: 'left-out',
  },
  'grammar-schemas': {
    member: 'tools[].function.parameters: not, pattern, maxLength',
    becomes: null,
    change: 'left-out',
  },
};

function modelOf({ model, wire, inference }: UpstreamCall): string {
  return `${model}\n${wire ?? inference.wire}`;
}

/** Some options are refused only while the model reasons. */
function keyOf({ model, inference: { wire, reasoning } }: UpstreamCall): string {
  return [model, wire, reasoning?.effort ?? ''].join('\n');
}
