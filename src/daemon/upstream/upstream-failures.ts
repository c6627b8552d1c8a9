import { UpstreamFailure, type UpstreamFailureKind } from '../features/inference/upstream.ts';
import { NetworkFailure, type NetworkFailureKind } from '../world.ts';

const kinds: Record<NetworkFailureKind, UpstreamFailureKind> = {
  refused: 'network',
  unresolved: 'network',
  'connect-timeout': 'timeout',
  'headers-timeout': 'timeout',
  'idle-timeout': 'timeout',
  reset: 'network',
  unreadable: 'broken',
  'too-large': 'broken',
  aborted: 'network',
};

/** What a failure of the network means for the call; other errors are passed through. */
export function upstreamFailureOf(error: unknown, name: string): unknown {
  if (!(error instanceof NetworkFailure)) return error;
  return new UpstreamFailure(kinds[error.kind], `${name}: ${error.message}`, { cause: error });
}

/** The same in the middle of a stream, where a lost connection is a broken answer. */
export function midStreamFailureOf(error: unknown, name: string): unknown {
  if (error instanceof NetworkFailure && error.kind === 'reset') {
    return new UpstreamFailure('broken', `${name} broke off in the middle of its answer`, { cause: error });
  }
  return upstreamFailureOf(error, name);
}
