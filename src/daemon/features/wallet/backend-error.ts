import { ApiError } from '../../../shared/errors.ts';
import { BackendFailure } from '../lightning/index.ts';

/** The failure of a back end, for its users: the message for the owner may name hosts and files. */
export function toApiError(error: unknown): unknown {
  if (!(error instanceof BackendFailure)) return error;
  return new ApiError('unavailable', { message: sentences[error.kind], cause: error });
}

const sentences: Record<BackendFailure['kind'], string> = {
  unreachable: 'The Lightning node of this host cannot be reached; try again later.',
  unauthorized: 'The Lightning node of this host rejects its secret. Its owner can see why: gateway doctor',
  'not-ready': 'The Lightning node of this host is not ready; try again later.',
  'other-node':
    'Another Lightning node answers than the one of this host. Its owner can see why: gateway doctor',
  rejected: 'The Lightning node of this host refused. Its owner can see why: gateway doctor',
};
