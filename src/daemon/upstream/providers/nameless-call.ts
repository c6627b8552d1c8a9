import { UpstreamFailure } from '../../features/inference/upstream.ts';

/** A call that nobody could answer: the provider did not say of what. */
export function namelessCall(
  provider: string,
  { of = 'tool' }: { of?: 'tool' | 'function' } = {},
): UpstreamFailure {
  return new UpstreamFailure('broken', `${provider} called a ${of} without naming it`);
}
