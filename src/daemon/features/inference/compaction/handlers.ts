import { compactResponse } from '../../../../shared/contract/compaction.ts';
import { type Handler, identified, implement } from '../../../handler.ts';
import type { InferenceNeeds } from '../begin.ts';
import { compact } from './compact.ts';

export function compactionHandlers(needs: InferenceNeeds): Handler[] {
  return [
    implement(compactResponse, async ({ caller, requestId, signal, body }) =>
      compact(needs, { caller: identified(caller), requestId, signal, body }),
    ),
  ];
}
