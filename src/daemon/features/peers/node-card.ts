import { createHmac } from 'node:crypto';
import { decisionLimits } from '../../../shared/contract/decisions.ts';
import type { NodeCard } from '../../../shared/contract/peers.ts';
import type { DecisionSlots, Engines } from '../decisions/index.ts';

/** Derived from the data key, so that it stays the same as long as the data does, and reveals nothing of the key. */
export function nodeIdOf(dataKey: Uint8Array): string {
  return `node_${createHmac('sha256', dataKey).update('node id').digest('hex').slice(0, 32)}`;
}

export interface NodeCardDeps {
  nodeId: string;
  version: string;
  engines: Engines;
  slots: Pick<DecisionSlots, 'free'>;
  settings: { readonly questionsMax: number; readonly concurrentMax: number };
}

/** This daemon's description of itself for its peers. */
export function nodeCard({ nodeId, version, engines, settings, slots }: NodeCardDeps): NodeCard {
  const models = (['engine', 'engine-flash'] as const).flatMap((id) => {
    const status = engines[id].status();
    return status.available ? [{ id, identity: status.identity }] : [];
  });
  const { bodyBytes, inputBytes, questionBytes, choices, levels } = decisionLimits;
  return {
    object: 'node',
    node_id: nodeId,
    version,
    decisions: {
      models,
      limits: {
        body_bytes: bodyBytes,
        input_bytes: inputBytes,
        question_bytes: questionBytes,
        questions: settings.questionsMax,
        choices,
        levels,
      },
      slots: { total: settings.concurrentMax, free: slots.free },
    },
  };
}
