import type { World } from '../../../base/world.ts';
import type { Inference } from '../../upstreams/neutral.ts';
import {
  type Upstream,
  type UpstreamAnswer,
  type UpstreamCall,
  UpstreamFailure,
} from '../../upstreams/upstream.ts';
import { callerNames, withCallerFields } from './caller-fields.ts';
import { acceptedEffort, withEffort } from './efforts.ts';
import { statedOutputLimit } from './output-limit.ts';
import { withoutForeignItems, withPlainTools, withShortNames } from './plain-tools.ts';
import { adjustmentFor, droppedBy, isLasting } from './refused-members.ts';
import { type LearnedRefusal, LearnedRefusals, refusedOption } from './refused-options.ts';
import { stoppedAnswer } from './stop-sequences.ts';
import { unknownMember, withoutMembers } from './unknown-members.ts';
import { adjusted, withinAbilities, withoutOptions } from './within-abilities.ts';

interface Upstreams {
  get(provider: string): Upstream | undefined;
}

/**
 * The upstreams, without the options of a call that the model lacks, with its tools replaced where a provider does not speak
 * the caller's format, and with rejections in the caller's terms.
 */
export function translatingUpstreams(
  upstreams: Upstreams,
  clock: Pick<World, 'elapsed'>,
): Upstreams & { refusalsOf(provider: string): LearnedRefusal[] } {
  const known = new WeakMap<Upstream, { upstream: Upstream; refused: LearnedRefusals }>();
  return {
    get(provider) {
      const upstream = upstreams.get(provider);
      if (upstream === undefined) return undefined;
      const found = known.get(upstream);
      if (found !== undefined) return found.upstream;
      const refused = new LearnedRefusals(clock);
      const translated = translating(upstream, refused);
      known.set(upstream, { upstream: translated, refused });
      return translated;
    },
    /** What the models of a provider turned out to refuse. */
    refusalsOf(provider) {
      const upstream = upstreams.get(provider);
      return (upstream && known.get(upstream)?.refused.list()) ?? [];
    },
  };
}

interface Context {
  signal: AbortSignal;
  refused: LearnedRefusals;
  /** Whether the limit of the output, or the effort, was lowered for this call: a second refusal is its answer. */
  isLimited?: boolean;
  isEased?: boolean;
  /** Whether this is the second time, as the server could not read what the model had written. */
  isRepeated?: boolean;
}

/** What was learned is of this upstream only, and forgotten with it when the configuration is read again. */
function translating(upstream: Upstream, refused: LearnedRefusals): Upstream {
  const { countInput } = upstream;
  return {
    ...upstream,
    open: (call, signal) => openReduced(upstream, call, { signal, refused }),
    ...(countInput && {
      async countInput(call, signal) {
        const { inference } = withinAbilities(call.inference, call.abilities);
        const reduced = { ...call, inference };
        try {
          return await countInput(reduced, signal);
        } catch (error) {
          throw explained(error, reduced);
        }
      },
    }),
  };
}

/** Opens a call without the options that its model lacks, and again without what it turns out to refuse. */
function openReduced(upstream: Upstream, call: UpstreamCall, context: Context): Promise<UpstreamAnswer> {
  const { signal, refused } = context;
  const able = withinAbilities(call.inference, call.abilities);
  const effort = refused.effortOf(call);
  const eased = effort === undefined ? able : withEffort(able.inference, effort);
  const tuned = withoutOptions(eased.inference, refused.optionsOf(call));
  const members = refused.membersOf(call);
  const known = members && withoutMembers(tuned.inference, members);
  const adjustments = call.adjustments ?? refused.adjustmentsOf(call);
  const { inference: tried } = known ?? tuned;
  const inference = adjustments === undefined ? tried : adjusted(tried, adjustments);
  const outputTokensMax = acceptedOutput(call, refused);
  const isChanged =
    inference !== call.inference ||
    adjustments !== call.adjustments ||
    outputTokensMax !== call.outputTokensMax;
  const reduced = isChanged
    ? { ...call, inference, outputTokensMax, ...(adjustments && { adjustments }) }
    : call;
  const left = [...able.dropped, ...tuned.dropped];
  if (eased !== able) left.push(...eased.dropped);
  if (known) left.push(...known.dropped);
  for (const each of adjustments ?? []) left.push(...droppedBy(each, inference.body));
  return openTranslated(upstream, reduced, signal).then(
    (answer) => {
      const reported =
        left.length > 0 ? { ...answer, dropped: [...left, ...(answer.dropped ?? [])] } : answer;
      const { stop } = call.inference.sampling;
      return stop === undefined ? reported : stoppedAnswer(reported, call, stop);
    },
    (error: unknown) => {
      if (signal.aborted) throw explained(error, reduced);
      if (!context.isRepeated && isUnreadCall(error))
        return openReduced(upstream, call, { ...context, isRepeated: true });
      const adjustment = adjustmentFor(error, reduced);
      if (adjustment !== undefined) {
        const more = new Set([...(adjustments ?? []), adjustment]);
        const remember = () => isLasting(adjustment) && refused.addAdjustment(call, adjustment);
        return openAgain(upstream, { ...call, adjustments: more }, context, remember);
      }
      const limit = context.isLimited ? undefined : statedOutputLimit(error, reduced);
      if (limit !== undefined) {
        const { tokens, isLasting: isLastingLimit } = limit;
        const remember = () => isLastingLimit && refused.addOutputTokensMax(call, tokens);
        const limited = { ...call, outputTokensMax: tokens };
        return openAgain(upstream, limited, { ...context, isLimited: true }, remember);
      }
      const accepted = context.isEased ? undefined : acceptedEffort(error, reduced);
      if (accepted !== undefined) {
        refused.addEffort(call, accepted);
        return openReduced(upstream, call, { ...context, isEased: true });
      }
      const option = refusedOption(error, reduced);
      if (option !== undefined) {
        refused.addOption(call, option);
        return openReduced(upstream, call, context);
      }
      const member = unknownMember(error, reduced);
      if (member === undefined) throw explained(error, reduced);
      const without = withoutMembers(call.inference, [member]);
      const remember = () => refused.addMember(call, member);
      return openAgain(upstream, { ...call, inference: without.inference }, context, remember).then(
        (answer) => ({ ...answer, dropped: [...without.dropped, ...(answer.dropped ?? [])] }),
      );
    },
  );
}

/**
 * Whether a server could not read the call that its model had written, as Groq says of Llama and Kimi: the next one is likely to be right.
 * Source: anomalyco/opencode#1018, pydantic/pydantic-ai#4354, groq/groq-typescript#28, pipecat-ai/pipecat#1168.
 */
function isUnreadCall(error: unknown): boolean {
  return error instanceof UpstreamFailure && error.details.exactCode === 'tool_use_failed';
}

/** Asks in another way, and remembers it if that was right. */
async function openAgain(
  upstream: Upstream,
  call: UpstreamCall,
  context: Context,
  remember: () => void,
): Promise<UpstreamAnswer> {
  const answer = await openReduced(upstream, call, context);
  remember();
  return answer;
}

/** What may be asked for, within what the model turned out to accept. */
function acceptedOutput(call: UpstreamCall, refused: LearnedRefusals): number | undefined {
  const accepted = refused.outputTokensMaxOf(call);
  const requested = call.outputTokensMax ?? call.inference.outputTokensMax;
  return accepted !== undefined && requested !== undefined && accepted < requested
    ? accepted
    : call.outputTokensMax;
}

function openTranslated(
  upstream: Upstream,
  call: UpstreamCall,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const inference = ownItemsFor(call, call.inference);
  const plain = plainToolsFor(call, inference);
  const translated = plain?.inference ?? inference;
  const opened = upstream.open(
    translated === call.inference ? call : { ...call, inference: translated },
    signal,
  );
  const restored = plain === undefined ? opened : opened.then(plain.restore);
  return hasOtherFields(call) ? restored.then((given) => withExplanation(given, call)) : restored;
}

/** Whether fields of the provider's request have other names or positions than in the caller's. */
function hasOtherFields({ wire, inference }: UpstreamCall): boolean {
  return wire !== inference.wire || inference.earlierMessages !== undefined;
}

function withExplanation(answer: UpstreamAnswer, { inference }: UpstreamCall): UpstreamAnswer {
  return answer.kind === 'stream' ? { ...answer, explain: callerNames(inference) } : answer;
}

function ownItemsFor({ wire }: Pick<UpstreamCall, 'wire'>, inference: Inference): Inference {
  return wire === inference.wire ? inference : withoutForeignItems(inference);
}

/** The Responses format has all kinds of tools. */
function plainToolsFor({ wire }: Pick<UpstreamCall, 'wire'>, inference: Inference) {
  if (wire === inference.wire) return undefined;
  return wire === 'responses' ? withShortNames(inference) : withPlainTools(inference);
}

function explained(error: unknown, call: Pick<UpstreamCall, 'inference' | 'wire'>): unknown {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'caller') return error;
  const { write } = error.details;
  return withCallerFields(error, {
    inference: call.inference,
    wire: call.wire,
    write:
      write &&
      ((inference) => {
        const own = ownItemsFor(call, inference);
        return write(plainToolsFor(call, own)?.inference ?? own);
      }),
  });
}
