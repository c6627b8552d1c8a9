import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { CreateResponseBody } from '../../../shared/contract/responses.ts';
import { createThread } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { decodeText } from '../../../shared/text/decode-text.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../failures/cli-error.ts';
import { whyNotRead } from '../../failures/file-faults.ts';
import { resolveThread } from '../../names/resolve.ts';
import { readPiped, textIn, withoutStdin } from '../../terminal/piped-input.ts';
import { mediaType, readAttachments } from './attachment.ts';
import { modelOf } from './choose-model.ts';
import type { PayFlags } from './pay-call.ts';

export interface RequestFlags extends PayFlags {
  prompt: string;
  model?: string | undefined;
  instructions?: string | undefined;
  jsonSchema?: string | undefined;
  file?: string[] | undefined;
  tools?: string | undefined;
  maxOutputTokens?: number | undefined;
  temperature?: number | undefined;
  reasoningEffort?: string | undefined;
  /** Whose provider key to use. */
  providerKey?: 'mine' | 'ours' | undefined;
  cache?: 'off' | 'read-only' | 'read-write' | undefined;
  store?: boolean | undefined;
  background?: boolean | undefined;
  previous?: string | undefined;
  thread?: string | undefined;
  stdin?: boolean | undefined;
}

/** Builds the request body from flags, files and piped input. */
export async function requestBody(context: Context, flags: RequestFlags): Promise<CreateResponseBody> {
  const input = await inputOf(context, flags);
  const body: CreateResponseBody = { model: await modelOf(context, flags), input };
  if (flags.instructions !== undefined) body.instructions = flags.instructions;
  if (flags.maxOutputTokens !== undefined) body.max_output_tokens = flags.maxOutputTokens;
  if (flags.temperature !== undefined) body.temperature = flags.temperature;
  if (flags.reasoningEffort !== undefined) body.reasoning = { effort: flags.reasoningEffort };
  if (flags.previous !== undefined) body.previous_response_id = flags.previous;
  if (flags.store !== undefined) body.store = flags.store;
  if (flags.background) body.background = true;
  const { providerKey, cache } = flags;
  if (providerKey !== undefined) body.service = { pay: providerKey };
  if (cache !== undefined) body.service = { ...body.service, cache };
  if (flags.tools !== undefined) body.tools = toolsOf(flags.tools);
  if (flags.jsonSchema !== undefined) body.text = { format: formatOf(flags.jsonSchema) };
  if (flags.thread !== undefined)
    body.service = { ...body.service, thread: await threadOf(context, flags.thread) };
  return body;
}

/** The thread to continue. A new one is created last, when everything else is valid. */
async function threadOf(context: Context, thread: string): Promise<string> {
  if (thread !== 'new') return resolveThread(context, thread);
  const { thread: made } = await context.client().call(createThread, { body: {} });
  context.out.note(`Created ${made.id}. To continue it: --thread ${made.id}`);
  return made.id;
}

async function inputOf(context: Context, flags: RequestFlags): Promise<CreateResponseBody['input']> {
  const readsStdin = !context.io.stdin.isTty && flags.stdin !== false;
  const piped = readsStdin ? await readPiped(context, withoutStdin) : new Uint8Array();
  const given = flags.file ?? [];
  const files = given.includes('-') || mediaType(piped) === undefined ? given : [...given, '-'];
  if (files.includes('-') && piped.length === 0) {
    throw new CliError('Nothing was piped in for --file -.', { exit: exitCodes.usage });
  }
  const prompts = files.includes('-') ? [flags.prompt] : [flags.prompt, textIn(piped).trimEnd()];
  const text = prompts.filter((part) => part !== '').join('\n\n');
  if (text === '' && files.length === 0) {
    throw usageError(
      'Nothing to ask.',
      'Give a prompt, pipe one in, or both: gateway respond "Summarise this." < notes.txt',
    );
  }
  if (files.length === 0) return text;
  const parts = readAttachments(files, { stdin: piped }).map(({ part }) => part);
  const asked = text === '' ? [] : [{ type: 'input_text', text }];
  return [{ type: 'message', role: 'user', content: [...asked, ...parts] }];
}

function toolsOf(path: string): CreateResponseBody['tools'] {
  const value = readJson(path);
  const list = typeof value === 'object' && value !== null && 'tools' in value ? value.tools : value;
  if (Array.isArray(list)) return list;
  throw usageError(
    `${path} does not contain a list of tools.`,
    'It must be JSON like [{"type":"function","name":"…","parameters":{…}}]',
  );
}

function formatOf(path: string): Record<string, unknown> {
  const schema = readJson(path);
  const name = basename(path)
    .replace(/\.json$/i, '')
    .replace(/[^\w-]/g, '_')
    .slice(0, 64);
  return { type: 'json_schema', name: name || 'answer', schema, strict: true };
}

function readJson(path: string): unknown {
  const text = decodeText(readBytes(path));
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CliError(`${path} is not JSON: ${(cause as Error).message}`, { exit: exitCodes.usage, cause });
  }
}

function readBytes(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new CliError(whyNotRead(path, cause as NodeJS.ErrnoException), { exit: exitCodes.usage, cause });
  }
}
