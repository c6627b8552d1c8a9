import type { ListedModel } from '../../features/catalog/index.ts';
import type { ModelListing } from '../adapter.ts';
import { countOf, type Json, objectOf, objectsOf, textOf } from '../json.ts';
import { listedCount, listedModel, listedText } from './listed-model.ts';

/*
 * OpenAI's list of models as compatible servers write it, with what they add: OpenAI's has only names. Bounds of answers are not read, as
 * answers would be cut by one that is wrong. Sources are the lists of the servers in `test/field/listed-models.test.ts`.
 */

/** What servers call the tokens that a model can read. `max_tokens` bounds its answers. */
const contextNames = [
  ...[
    'max_model_len',
    'context_length',
    'context_window',
    'context_size',
    'max_context_length',
    'max_context',
  ],
  ...['max_input_tokens', 'max_position_embeddings'],
];

/** Types of models that generate neither text nor embeddings. */
const otherTypes = /^(image|video|audio|speech|transcri|tts|stt|asr|rerank|moderation)/i;

/** The list of a server with OpenAI's format. */
export const compatibleListing: ModelListing = {
  url: (baseUrl) => `${baseUrl}/models`,
  listIn: ({ data, models }) => data ?? models,
  read: compatibleModel,
};

function compatibleModel(model: Json): ListedModel | undefined {
  const type = textOf(model.type) ?? '';
  if (otherTypes.test(type)) return undefined;
  return listedModel(model.id ?? model.name, {
    title: listedText(model.display_name),
    createdAt: listedCount(model.created),
    contextLength: contextLengthOf(model),
    kind: /^embedding/i.test(type) ? 'embedding' : undefined,
  });
}

/** How many tokens a model reads as it is loaded, or else could read; undefined if its server does not say. */
export function contextLengthOf(model: Json): number | undefined {
  const meta = objectOf(model.meta);
  const members = [model, objectOf(model.metadata), objectOf(model.top_provider)];
  const written = members.flatMap((each) => contextNames.map((name) => each?.[name]));
  const providers = objectsOf(model.providers).map(contextLengthOf);
  const lengths = [model.loaded_context_length, meta?.n_ctx, argumentOf(model), ...written];
  return firstCount([
    ...lengths,
    Math.max(0, ...providers.filter((each) => each !== undefined)),
    meta?.n_ctx_train,
  ]);
}

/** With which context llama.cpp's router starts a model that is not loaded yet. */
function argumentOf({ status }: Json): unknown {
  const args = objectOf(status)?.args;
  if (!Array.isArray(args)) return undefined;
  return args[args.findLastIndex((each) => each === '--ctx-size' || each === '-c') + 1 || args.length];
}

/** A length of zero is that of a server which does not know it. */
function firstCount(values: readonly unknown[]): number | undefined {
  return values.map(countOf).find((count) => count !== undefined && count > 0);
}
