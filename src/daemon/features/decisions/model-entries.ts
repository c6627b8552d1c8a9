import { type DecisionModel, decisionModels } from '../../../shared/contract/decisions.ts';
import type { ModelEntry } from '../../../shared/contract/models.ts';
import type { EngineName, Engines } from './engine.ts';

const names: Readonly<Record<DecisionModel, string>> = {
  'service/decide': 'Decisions: the best available source',
  engine: 'Decisions: the host’s engine',
  'engine-flash': 'Decisions: the host’s fast engine',
};

const descriptions: Readonly<Record<DecisionModel, string>> = {
  'service/decide': 'Asks the host’s engine first, then the models that the host offers for decisions.',
  engine: 'A decision model of the host. It answers typed questions, not text.',
  'engine-flash': 'A small decision model of the host. It answers typed questions, not text.',
};

const free = { input: '0', cached_input: '0', cache_write: '0', output: '0' };

interface EntriesDeps {
  engines: Engines;
  /** Whether `service/decide` has models or peers to ask besides the engines. */
  hasBackups: () => boolean;
}

/** The decision models in the list of models. */
export function decisionModelEntries({ engines, hasBackups }: EntriesDeps, created: number): ModelEntry[] {
  return decisionModels.map((id) => {
    const status = statusOf({ engines, hasBackups }, id);
    const reason = status.available ? null : status.reason;
    const identity = 'identity' in status ? status.identity : id;
    return {
      id,
      object: 'model',
      created,
      owned_by: 'service',
      service: {
        name: names[id],
        description: descriptions[id],
        available: status.available,
        reason,
        context_length: null,
        max_output_tokens: null,
        capabilities: {
          kind: 'decision',
          input_modalities: ['text'],
          output_modalities: ['decision'],
          tools: false,
          parallel_tools: false,
          structured_output: false,
          reasoning: false,
          logprobs: false,
        },
        providers: [
          { provider: id, model: identity, available: status.available, reason, prices: free, live: null },
        ],
        prices: free,
        live: null,
      },
    };
  });
}

function statusOf({ engines, hasBackups }: EntriesDeps, id: DecisionModel) {
  if (id !== 'service/decide') return engines[id satisfies EngineName].status();
  const statuses = [engines.engine.status(), engines['engine-flash'].status()];
  const available = statuses.find((status) => status.available);
  if (available) return available;
  return hasBackups() ? { available: true as const } : engines.engine.status();
}
