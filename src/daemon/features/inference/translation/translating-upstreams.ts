import type { Inference } from '../../upstreams/neutral.ts';
import {
  type Upstream,
  type UpstreamAnswer,
  type UpstreamCall,
  UpstreamFailure,
} from '../../upstreams/upstream.ts';
import { callerNames, withCallerFields } from './caller-fields.ts';
import { withPlainTools } from './plain-tools.ts';

interface Upstreams {
  get(provider: string): Upstream | undefined;
}

/**
 * The upstreams, with the tools of a call replaced where a provider does not speak the caller's format, and with rejections
 * in the caller's terms.
 */
export function translatingUpstreams(upstreams: Upstreams): Upstreams {
  const known = new WeakMap<Upstream, Upstream>();
  return {
    get(provider) {
      const upstream = upstreams.get(provider);
      if (upstream === undefined) return undefined;
      const translated = known.get(upstream) ?? translating(upstream);
      known.set(upstream, translated);
      return translated;
    },
  };
}

function translating(upstream: Upstream): Upstream {
  const { countInput } = upstream;
  return {
    ...upstream,
    open(call, signal) {
      const plain = plainToolsFor(call, call.inference);
      const opened =
        plain === undefined
          ? upstream.open(call, signal)
          : upstream.open({ ...call, inference: plain.inference }, signal).then(plain.restore);
      const answer = hasOtherFields(call) ? opened.then((given) => withExplanation(given, call)) : opened;
      return answer.catch((error: unknown) => {
        throw explained(error, call);
      });
    },
    ...(countInput && {
      async countInput(call, signal) {
        try {
          return await countInput(call, signal);
        } catch (error) {
          throw explained(error, call);
        }
      },
    }),
  };
}

/** Whether fields of the provider's request have other names or positions than in the caller's. */
function hasOtherFields({ wire, inference }: UpstreamCall): boolean {
  return wire !== inference.wire || inference.earlierMessages !== undefined;
}

function withExplanation(answer: UpstreamAnswer, { inference }: UpstreamCall): UpstreamAnswer {
  return answer.kind === 'stream' ? { ...answer, explain: callerNames(inference) } : answer;
}

/** The Responses format has all kinds of tools. */
function plainToolsFor({ wire }: Pick<UpstreamCall, 'wire'>, inference: Inference) {
  return wire === inference.wire || wire === 'responses' ? undefined : withPlainTools(inference);
}

function explained(error: unknown, call: Pick<UpstreamCall, 'inference' | 'wire'>): unknown {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'caller') return error;
  const { write } = error.details;
  return withCallerFields(error, {
    inference: call.inference,
    wire: call.wire,
    write: write && ((inference) => write(plainToolsFor(call, inference)?.inference ?? inference)),
  });
}
