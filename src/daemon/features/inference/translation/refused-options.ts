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
 * The option for which a provider refused a call that would work without it; undefined for any other failure. Models change,
 * and servers have others than their names suggest: what is not known beforehand shows here.
 */
export function refusedOption(error: unknown, { inference }: UpstreamCall): TuningOption | undefined {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'caller') return undefined;
  const { code, param, publicMessage = '' } = error.details;
  if (code !== 'unsupported_value' && !saysUnsupported.test(publicMessage)) return undefined;
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
  learned: Set<Learned>;
  until: number;
}

/** Remembers what the models of an upstream refused, so that later calls need not be refused again. */
class Refusals<Learned> {
  readonly #clock: Pick<World, 'elapsed'>;
  readonly #entries = new RecentMap<string, Entry<Learned>>(entriesMax);

  constructor(clock: Pick<World, 'elapsed'>) {
    this.#clock = clock;
  }

  of(key: () => string): ReadonlySet<Learned> | undefined {
    if (this.#entries.size === 0) return undefined;
    const entry = this.#entries.get(key());
    return entry !== undefined && this.#clock.elapsed() < entry.until ? entry.learned : undefined;
  }

  add(key: () => string, learned: Learned): void {
    const all = new Set([...(this.of(key) ?? []), learned]);
    this.#entries.set(key(), { learned: all, until: this.#clock.elapsed() + rememberedMs });
  }
}

/** What the models of one upstream refused: options of calls, and ways to write a request. */
export class LearnedRefusals {
  readonly #options: Refusals<TuningOption>;
  readonly #adjustments: Refusals<Adjustment>;

  constructor(clock: Pick<World, 'elapsed'>) {
    this.#options = new Refusals(clock);
    this.#adjustments = new Refusals(clock);
  }

  optionsOf(call: UpstreamCall): Iterable<TuningOption> {
    return this.#options.of(() => keyOf(call)) ?? [];
  }

  addOption(call: UpstreamCall, option: TuningOption): void {
    this.#options.add(() => keyOf(call), option);
  }

  adjustmentsOf(call: UpstreamCall): ReadonlySet<Adjustment> | undefined {
    return this.#adjustments.of(() => modelOf(call));
  }

  addAdjustment(call: UpstreamCall, adjustment: Adjustment): void {
    this.#adjustments.add(() => modelOf(call), adjustment);
  }
}

function modelOf({ model, wire, inference }: UpstreamCall): string {
  return `${model}\n${wire ?? inference.wire}`;
}

/** Some options are refused only while the model reasons. */
function keyOf({ model, inference: { wire, reasoning } }: UpstreamCall): string {
  return [model, wire, reasoning?.effort ?? ''].join('\n');
}
