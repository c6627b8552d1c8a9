import { compactResponse } from '../../../../shared/contract/compaction.ts';
import { type Handler, identified, implement } from '../../../handler.ts';
import type { InferenceDeps } from '../pipeline/start-call.ts';
import { compact } from './compact.ts';

export function compactionHandlers(deps: InferenceDeps): Handler[] {
  return [
    implement(compactResponse, async ({ caller, requestId, signal, body }) =>
      compact(deps, { caller: identified(caller), requestId, signal, body }),
    ),
  ];
}
