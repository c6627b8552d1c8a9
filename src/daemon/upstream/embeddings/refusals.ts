import { UpstreamFailure } from '../../features/upstreams/upstream.ts';

const ofInputs = /\bbatch|\binputs\b|\btexts\b|\bitems\b|\barray\b|\brequests\b/i;
const countMax =
  /(?:(?:larger|greater|more|bigger) than|at most|up to|\bmax(?:imum)?(?: (?:allowed|number|of|batch|size|inputs|texts|length|is)){0,4}|\blimit(?: is)?)[^\d]{0,8}(\d{1,4})\b/i;
const tooMany =
  /tokens (?:per|in) (?:the |a |one |this )?(?:submitted )?(?:batch|request)|max_tokens_per_request|too_many_tokens_in_batch|too many (?:inputs|texts|items)|batch[^.]{0,20} too (?:large|big|long)/i;

/**
 * What a provider that refused a request with `count` inputs may be asked instead, if it refused their number or size: `isBound`
 * if it said how many it takes. Source: the reports in `test/field/embeddings.test.ts`.
 */
export function fewerInputs(
  error: unknown,
  count: number,
): { inputsMax: number; isBound: boolean } | undefined {
  if (!isRefusal(error) || count < 2) return undefined;
  const { status, publicMessage = '' } = error.details;
  const said = ofInputs.test(publicMessage) ? Number(countMax.exec(publicMessage)?.[1] ?? 0) : 0;
  if (said > 0 && said < count) return { inputsMax: said, isBound: true };
  if (status !== 413 && !tooMany.test(publicMessage)) return undefined;
  return { inputsMax: Math.floor(count / 2), isBound: false };
}

/** Whether a provider takes no length of vectors for its model, not even the usual one. Source: vLLM. */
export function refusesLength(error: unknown): boolean {
  return isRefusal(error) && /\bdimensions\b|matryoshka/i.test(error.details.publicMessage ?? '');
}

function isRefusal(error: unknown): error is UpstreamFailure {
  return error instanceof UpstreamFailure && error.kind === 'caller';
}
