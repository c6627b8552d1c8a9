import { Command } from '@commander-js/extra-typings';
import type { CompactedConversation } from '../../shared/contract/compaction.ts';
import type { CreateResponseBody } from '../../shared/contract/responses.ts';
import { compactResponse } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { dollars } from '../../view/money.ts';
import { count } from '../../view/numbers.ts';
import type { Context } from '../context.ts';
import { type CliError, usageError } from '../failures/cli-error.ts';
import { example, wholeNumber } from '../options.ts';
import { pipedText, typedStdin } from '../terminal/piped-input.ts';
import { showCancelledCost } from './respond/call-cost.ts';
import { modelOf } from './respond/choose-model.ts';

interface CompactFlags {
  model?: string | undefined;
  instructions?: string | undefined;
  maxOutputTokens?: number | undefined;
}

export const compactCommand = (context: Context) =>
  new Command('compact')
    .argument('[response]', 'a stored response to compact, before any piped items')
    .option(
      '-m, --model <model>',
      "the model that writes the summary (default: GATEWAY_MODEL, then the daemon's default)",
    )
    .option('-i, --instructions <text>', 'the system instructions of the conversation')
    .option(
      '--max-output-tokens <count>',
      'the maximum length of the summary, including reasoning',
      wholeNumber({ min: 16 }),
    )
    .addHelpText('after', example('gateway compact < items.json > shorter.json'))
    .action((response, flags) => compactAndShow(context, response, flags));

/** Prints the items to start a new conversation with; with `--json` the whole result. */
async function compactAndShow(
  context: Context,
  response: string | undefined,
  flags: CompactFlags,
): Promise<void> {
  const input = await pipedItems(context);
  if (input === undefined && response === undefined) {
    throw usageError(
      'Nothing to compact.',
      'Give a response id, or pipe in a JSON list of items: gateway compact < items.json',
    );
  }
  const body: CreateResponseBody = { model: await modelOf(context, flags) };
  if (input !== undefined) body.input = input;
  if (response !== undefined) body.previous_response_id = response;
  if (flags.instructions !== undefined) body.instructions = flags.instructions;
  if (flags.maxOutputTokens !== undefined) body.max_output_tokens = flags.maxOutputTokens;
  const compacted = await compact(context, body);
  if (compacted === undefined) return;
  await context.out.document(context.out.wantsJson() ? compacted : compacted.output);
  context.out.note(waitForUsage(compacted));
}

/** Undefined after Ctrl-C, which also cancels the call at the provider. */
async function compact(
  context: Context,
  body: CreateResponseBody,
): Promise<CompactedConversation | undefined> {
  const signal = context.interrupted();
  try {
    return await context.client().call(compactResponse, { body, headers: {} }, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    context.exit = exitCodes.interrupted;
    await showCancelledCost(context, undefined);
    return undefined;
  }
}

/** Reads a list of items, or an object with such a list in `input` or `output`, as other commands print. */
async function pipedItems(context: Context): Promise<CreateResponseBody['input']> {
  const text = context.io.stdin.isTty ? '' : (await pipedText(context, typedStdin)).trim();
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
  return usageError(
    'The piped input is not a JSON list of items.',
    'Pipe in the items of a conversation: [{"role": "user", "content": "Hello!"}, …]',
  );
}

function waitForUsage({ usage, service }: CompactedConversation): string {
  const tokens = `${count(Number(usage.input_tokens))} → ${count(Number(usage.output_tokens))} tokens`;
  return [service && `${service.model} via ${service.provider}`, tokens, dollars(service?.cost?.total_usd)]
    .filter(Boolean)
    .join(' · ');
}
