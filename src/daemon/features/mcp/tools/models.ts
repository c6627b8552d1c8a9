import { Type } from 'typebox';
import { getModel, listModels, type ModelEntry } from '../../../../shared/contract/models.ts';
import { listRates } from '../../../../shared/contract/rates.ts';
import { tool } from '../tool.ts';

const Match = Type.Optional(
  Type.String({
    maxLength: 256,
    description: 'Only models whose id contains this text, ignoring case: `claude`, `gpt-5`.',
  }),
);
const Limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 200, description: 'Maximum number of models; 50 by default.' }),
);

const holds = (id: string, match = '') => id.toLowerCase().includes(match.toLowerCase());

/** The list without providers, since a thousand models must fit into a model's context. */
export const listModelsTool = tool({
  name: 'list_models',
  title: 'List models',
  description:
    'List the models that can be called through this gateway, available ones first, with context length in tokens and the best price in US dollars per million tokens. Use `match` to narrow the list, and `get_model` for the capabilities and providers of one model.',
  input: Type.Object(
    {
      match: Match,
      available: Type.Optional(
        Type.Boolean({ description: 'Only models that are available now; true by default.' }),
      ),
      limit: Limit,
    },
    { additionalProperties: false },
  ),
  endpoints: [listModels],
  isReadOnly: true,
  async run({ match, available = true, limit = 50 }, { ask }) {
    const { data } = await ask.whole(listModels, { query: { all: !available } });
    const found = data.map(brief).filter((model) => holds(model.id, match));
    return { data: { models: found.slice(0, limit), found: found.length } };
  },
});

function brief({ id, service }: ModelEntry) {
  return {
    id,
    name: service.name,
    available: service.providers.some((provider) => provider.available),
    context_length: service.context_length,
    max_output_tokens: service.max_output_tokens,
    prices: service.prices,
  };
}

export const getModelTool = tool({
  name: 'get_model',
  title: 'Show one model',
  description:
    'Show one model by its id or any name that a call accepts: its capabilities, its providers with prices and availability, and the speed measured here.',
  input: Type.Object(getModel.params.properties, { additionalProperties: false }),
  endpoints: [getModel],
  isReadOnly: true,
  run: async (params, { ask }) => ({ data: await ask.whole(getModel, { params }) }),
});

export const listRatesTool = tool({
  name: 'list_rates',
  title: 'List rates',
  description:
    'List the prices of model calls, one row per model and provider, in US dollars per million tokens: the provider’s price, the host’s margin, and their sum.',
  input: Type.Object({ match: Match, limit: Limit }, { additionalProperties: false }),
  endpoints: [listRates],
  isReadOnly: true,
  async run({ match, limit = 50 }, { ask }) {
    const card = await ask.whole(listRates, {});
    const found = card.data.filter(({ model }) => holds(model, match));
    const { unit, margin_percent, as_of } = card;
    return { data: { unit, margin_percent, as_of, rates: found.slice(0, limit), found: found.length } };
  },
});
