import { Command } from '@commander-js/extra-typings';
import type { CreateEmbeddingBody, EmbeddingList } from '../../shared/contract/embeddings.ts';
import { createEmbedding, listModels } from '../../shared/endpoints.ts';
import { dollars, sumOfUsd } from '../../view/money.ts';
import { count } from '../../view/numbers.ts';
import type { Context } from '../context.ts';
import { type CliError, usageError } from '../failures/cli-error.ts';
import { isStdin } from '../io.ts';
import { example, wholeNumber } from '../options.ts';

interface EmbedFlags {
  model?: string | undefined;
  dimensions?: number | undefined;
}

/** Texts of one call; the vectors of each call are printed before the next. */
const textsPerCall = 512;

export const embedCommand = (context: Context) =>
  new Command('embed')
    .argument('[text...]', 'the texts; without any, each line of the piped input is one')
    .option('-m, --model <model>', 'an embedding model (default: GATEWAY_EMBEDDING_MODEL, then a free one)')
    .option('--dimensions <count>', 'the length of the vectors', wholeNumber({ min: 1 }))
    .addHelpText('after', example('gateway embed -m text-embedding-3-small < lines.txt > vectors.ndjson'))
    .action((texts, flags) => embedAndShow(context, texts, flags));

/** Prints a line with a JSON array for each text, in order; with `--json` the whole result of each call. */
async function embedAndShow(context: Context, texts: string[], flags: EmbedFlags): Promise<void> {
  const model = flags.model ?? (context.env.GATEWAY_EMBEDDING_MODEL || (await freeModel(context)));
  let tokens = 0;
  let last: EmbeddingList | undefined;
  const costs: (string | null)[] = [];
  for await (const input of callsOf(context, texts)) {
    last = await embed(context, { model, input, dimensions: flags.dimensions ?? null });
    if (context.out.wantsJson()) await context.out.document(last);
    else for (const { embedding } of last.data) context.out.text(`${JSON.stringify(embedding)}\n`);
    tokens += last.usage.total_tokens;
    costs.push(last.usage.cost_usd);
  }
  if (last === undefined) throw nothingToEmbed();
  const known = costs.filter((cost) => cost !== null);
  const cost = known.length < costs.length ? null : sumOfUsd(known);
  const { service } = last;
  const used = tokens === 1 ? '1 token' : `${count(tokens)} tokens`;
  context.out.note(`${service.model} via ${service.provider} · ${used} · ${dollars(cost)}`);
}

/** A model that costs nothing, and a note which one: a local server's, else the simulator's. */
async function freeModel(context: Context): Promise<string> {
  const { data } = await context.client().call(listModels, { query: {} });
  const able = data.filter(
    ({ service }) =>
      service.capabilities.kind === 'embedding' && service.providers.some(({ available }) => available),
  );
  const free = able.filter(({ service }) => Number(service.prices?.input ?? 1) === 0);
  const chosen = free.find(({ id }) => !isSimulated(id)) ?? free[0];
  if (chosen === undefined) {
    throw usageError(
      'No embedding model was named, and none is free.',
      'Use --model or GATEWAY_EMBEDDING_MODEL. To list them: gateway models --match embed',
    );
  }
  const other = able.find(({ id }) => !isSimulated(id) && id !== chosen.id);
  const kind = isSimulated(chosen.id) ? 'the built-in simulator, which hashes words' : 'a free model';
  const choice = other ? ` To ask another: --model ${other.id}, or GATEWAY_EMBEDDING_MODEL` : '';
  context.out.note(`No embedding model was named, so ${chosen.id} answers: ${kind}.${choice}`);
  return chosen.id;
}

function isSimulated(model: string): boolean {
  return model.startsWith('sim/');
}

function embed(context: Context, body: CreateEmbeddingBody): Promise<EmbeddingList> {
  return context.client().call(createEmbedding, { headers: {}, body }, { signal: context.interrupted() });
}

/** The texts of each call. */
async function* callsOf({ io }: Context, texts: string[]): AsyncGenerator<string[]> {
  if (texts.length > 0 && !isStdin(texts)) return yield texts;
  if (io.stdin.isTty) throw nothingToEmbed();
  let lines: string[] = [];
  let number = 0;
  for await (const line of io.stdin.lines()) {
    number += 1;
    if (line === '') {
      throw usageError(
        `Line ${number} of the input is empty.`,
        'Every line must have text, so that vectors and lines have the same numbers.',
      );
    }
    lines.push(line);
    if (lines.length < textsPerCall) continue;
    yield lines;
    lines = [];
  }
  if (lines.length > 0) yield lines;
}

function nothingToEmbed(): CliError {
  return usageError(
    'Nothing to embed.',
    'Give a text, or pipe in lines: gateway embed --model MODEL < lines.txt',
  );
}
