import { RecentMap } from '../../../../shared/recent-map.ts';
import type { World } from '../../../world.ts';
import type { UpstreamCall } from '../../upstreams/upstream.ts';
import { UpstreamFailure } from '../../upstreams/upstream.ts';
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
const saysUnsupported =
  /not supported|unsupported|not support\b|not enabled|not available|deprecated|unrecognized|unknown (parameter|argument|field)|extra inputs/i;

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

interface Entry {
  options: Set<TuningOption>;
  until: number;
}

/** Remembers which options models refused, so that later calls need not be refused again. */
export class RefusedOptions {
  readonly #clock: Pick<World, 'elapsed'>;
  readonly #entries = new RecentMap<string, Entry>(entriesMax);

  constructor(clock: Pick<World, 'elapsed'>) {
    this.#clock = clock;
  }

  of(provider: string, call: UpstreamCall): Iterable<TuningOption> {
    if (this.#entries.size === 0) return [];
    const entry = this.#entries.get(keyOf(provider, call));
    return entry !== undefined && this.#clock.elapsed() < entry.until ? entry.options : [];
  }

  add(provider: string, call: UpstreamCall, option: TuningOption): void {
    const key = keyOf(provider, call);
    const options = new Set([...this.of(provider, call), option]);
    this.#entries.set(key, { options, until: this.#clock.elapsed() + rememberedMs });
  }
}

/** Some options are refused only while the model reasons. */
function keyOf(provider: string, { model, inference: { wire, reasoning } }: UpstreamCall): string {
  return [provider, model, wire, reasoning?.effort ?? ''].join('\n');
}
