import { ApiError } from '../../../../../shared/errors.ts';
import { type OpenSummary, parseCompaction } from '../../compaction/compaction-item.ts';
import { invalid, isObject, type Json, optionalText, quoted, requiredText } from '../../fault.ts';
import type { InputItem, ReasoningOrigin } from '../../neutral.ts';
import { parseContent } from './parts.ts';

/** Opens a sealed reasoning text; undefined when it is not one of this workspace's. */
export type OpenSealed = (sealed: string) => ReasoningOrigin | undefined;

const roles = new Set(['user', 'system', 'developer', 'assistant']);

/** The `input` of a create call; a text is one user message. */
export function parseInput(
  input: unknown,
  open: OpenSealed,
  openSummary: OpenSummary = () => undefined,
): InputItem[] {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'text', text: input }] }];
  if (!Array.isArray(input)) throw invalid('input', 'This must be a string or a list of items.');
  return input.map((item, index) => parseItem(item, { param: `input[${index}]`, open, openSummary }));
}

export interface ItemContext {
  /** Where the item is, as the caller wrote it. */
  param: string;
  open: OpenSealed;
  openSummary: OpenSummary;
}

/** One item in the Responses format. Items of types that are not known here reach only providers that know them. */
export function parseItem(item: unknown, { param, open, openSummary }: ItemContext): InputItem {
  if (!isObject(item)) throw invalid(param, 'An input item must be an object.');
  const id = optionalText(item.id, `${param}.id`);
  const withId = id === undefined ? {} : { id };
  switch (item.type) {
    case undefined:
    case null:
    case 'message':
      return { ...parseMessage(item, param), ...withId };
    case 'function_call':
      return {
        type: 'function_call',
        callId: callIdOf(item, param),
        name: requiredText(item.name, `${param}.name`),
        arguments: optionalText(item.arguments, `${param}.arguments`) || '{}',
        ...withId,
      };
    case 'function_call_output':
      if (item.output === undefined) throw invalid(`${param}.output`, 'A tool’s output is missing.');
      return {
        type: 'function_call_output',
        callId: callIdOf(item, param),
        output: parseContent(item.output, `${param}.output`),
      };
    case 'reasoning':
      return {
        type: 'reasoning',
        summary: summaryOf(item, param),
        origin: originOf(item, param, open),
        ...withId,
      };
    case 'compaction':
      return parseCompaction(item, param, openSummary);
    default:
      requiredText(item.type, `${param}.type`);
      return { type: 'opaque', json: item };
  }
}

function parseMessage(item: Json, param: string): Extract<InputItem, { type: 'message' }> {
  if (typeof item.role !== 'string' || !roles.has(item.role))
    throw invalid(`${param}.role`, 'This must be user, system, developer or assistant.');
  if (item.content === undefined || item.content === null)
    throw invalid(`${param}.content`, 'A message needs content.');
  const role = item.role as 'user' | 'system' | 'developer' | 'assistant';
  const content = parseContent(item.content, `${param}.content`);
  const phase = optionalText(item.phase, `${param}.phase`);
  return { type: 'message', role, content, ...(phase !== undefined && { phase }) };
}

function callIdOf(item: Json, param: string): string {
  const callId = requiredText(item.call_id, `${param}.call_id`);
  if (callId === '') throw invalid(`${param}.call_id`, 'This must not be empty.');
  return callId;
}

function summaryOf(item: Json, param: string): string[] {
  const summary = item.summary ?? [];
  if (!Array.isArray(summary)) throw invalid(`${param}.summary`, 'This must be a list.');
  return summary.map((part, index) => {
    if (!isObject(part)) throw invalid(`${param}.summary[${index}]`, 'This must be an object.');
    return requiredText(part.text, `${param}.summary[${index}].text`);
  });
}

function originOf(item: Json, param: string, open: OpenSealed): ReasoningOrigin | undefined {
  const sealed = optionalText(item.encrypted_content, `${param}.encrypted_content`);
  if (sealed === undefined) return undefined;
  const origin = open(sealed);
  if (origin === undefined)
    throw invalid(
      `${param}.encrypted_content`,
      'This was not sealed here for this workspace, or was damaged.',
    );
  return origin;
}

/** Every tool output must answer a call that came before it. */
export function checkCallIds(items: readonly InputItem[], newFrom: number): void {
  let known: Set<string> | undefined;
  items.forEach((item, index) => {
    if (item.type === 'function_call') {
      known ??= new Set();
      known.add(item.callId);
    } else if (item.type === 'function_call_output' && !known?.has(item.callId)) {
      throw new ApiError('unknown_call_id', {
        param: `input[${Math.max(0, index - newFrom)}].call_id`,
        message: `No function call with call_id ${quoted(item.callId)} comes before this output.`,
      });
    }
  });
}
