import { Command } from '@commander-js/extra-typings';
import type { CompactedConversation } from '../../shared/contract/compaction.ts';
import type { CreateResponseBody } from '../../shared/contract/responses.ts';
import { exitCodes } from '../../shared/errors.ts';
import { compactResponse } from '../addresses.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { example, wholeNumber } from '../manifest/options.ts';
import { count, dollars } from '../output/amount.ts';
import { tellCancelled } from './respond/bill.ts';
import { modelOf } from './respond/request-body.ts';

interface CompactFlags {
  model?: string | undefined;
  instructions?: string | undefined;
  maxOutputTokens?: number | undefined;
}

export const compactCommand = (context: Context) =>
  new Command('compact')
    .argument('[response]', 'the id of a stored response; its conversation comes before piped items')
    .option(
      '-m, --model <model>',
      'the model that writes the summary; else GATEWAY_MODEL, else the daemon’s default',
    )
    .option('-i, --instructions <text>', 'instructions that the conversation was held under')
    .option(
      '--max-output-tokens <count>',
      'the longest summary, reasoning included',
      wholeNumber({ min: 16 }),
    )
    .addHelpText('after', example('gateway compact < items.json > shorter.json'))
    .action((response, flags) => compactAndShow(context, response, flags));

/** Prints the items that a new conversation begins with; with `--json` all that was answered. */
async function compactAndShow(
  context: Context,
  response: string | undefined,
  flags: CompactFlags,
): Promise<void> {
  const input = await pipedItems(context);
  if (input === undefined && response === undefined) {
    throw new CliError('There is nothing to compact.', {
      exit: exitCodes.usage,
      next: 'Name a response, or pipe in a JSON list of items: gateway compact < items.json',
    });
  }
  const body: CreateResponseBody = { model: await modelOf(context, flags) };
  if (input !== undefined) body.input = input;
  if (response !== undefined) body.previous_response_id = response;
  if (flags.instructions !== undefined) body.instructions = flags.instructions;
  if (flags.maxOutputTokens !== undefined) body.max_output_tokens = flags.maxOutputTokens;
  const compacted = await compact(context, body);
  if (compacted === undefined) return;
  await context.out.document(context.out.wantsJson() ? compacted : compacted.output);
  context.out.note(billOf(compacted));
}

/** Undefined after Ctrl-C, which ends the call at the provider too. */
async function compact(
  context: Context,
  body: CreateResponseBody,
): Promise<CompactedConversation | undefined> {
  const signal = context.interrupted();
  try {
    return await context.client().call(compactResponse, { body }, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    context.exit = exitCodes.interrupted;
    await tellCancelled(context, undefined);
    return undefined;
  }
}

/** A list of items, or an object that holds one as its `input` or `output`: what other commands print. */
async function pipedItems({ io }: Context): Promise<CreateResponseBody['input']> {
  const text = io.stdin.isTty ? '' : new TextDecoder().decode(await io.stdin.read()).trim();
  if (text === '') return undefined;
  const items = listIn(parsed(text));
  if (items === undefined) throw notItems();
  return items;
}

type Items = Exclude<CreateResponseBody['input'], string | undefined>;

function listIn(value: unknown): Items | undefined {
  if (Array.isArray(value)) return value as Items;
  const { input, output } = (value ?? {}) as { input?: unknown; output?: unknown };
  return [input, output].find((list): list is Items => Array.isArray(list));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notItems();
  }
}

function notItems(): CliError {
  return new CliError('What was piped in is no JSON list of items.', {
    exit: exitCodes.usage,
    next: 'Pipe in the input of a conversation: [{"role": "user", "content": "Hello!"}, …]',
  });
}

function billOf({ usage, service }: CompactedConversation): string {
  const tokens = `${count(Number(usage.input_tokens))} → ${count(Number(usage.output_tokens))} tokens`;
  return [service && `${service.model} via ${service.provider}`, tokens, dollars(service?.cost?.total_usd)]
    .filter(Boolean)
    .join(' · ');
}
