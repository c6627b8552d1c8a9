import { isObject, type JsonObject } from '../../../shared/json/json-object.ts';
import type { CallFormat } from '../upstreams/neutral.ts';
import type { AnswerPart } from './verdict.ts';

/** A part of a whole answer, and how it is replaced. */
export interface DocumentPart {
  part: AnswerPart;
  replace: (text: string) => void;
}

/** The texts and tool calls of a whole answer in the format of a provider. Replacing one changes the document. */
export function documentParts(document: JsonObject, wire: CallFormat): DocumentPart[] {
  switch (wire) {
    case 'chat':
      return objectsIn(document.choices).flatMap(({ message }) =>
        isObject(message) ? ofMessage(message) : [],
      );
    case 'messages':
      return objectsIn(document.content).flatMap(ofBlock);
    case 'responses':
      return objectsIn(document.output).flatMap(ofItem);
    default:
      return [];
  }
}

function ofMessage(message: JsonObject): DocumentPart[] {
  const texts = [
    ...texted(message, 'content'),
    ...objectsIn(message.content).flatMap((part) => texted(part, 'text')),
    ...texted(message, 'refusal'),
  ];
  const calls = objectsIn(message.tool_calls).flatMap(({ function: called, custom }) => [
    ...(isObject(called) ? toolCall(called, 'arguments') : []),
    ...(isObject(custom) ? toolCall(custom, 'input') : []),
  ]);
  return [...texts, ...calls];
}

function ofBlock(block: JsonObject): DocumentPart[] {
  if (block.type === 'text') return texted(block, 'text');
  if (block.type !== 'tool_use' || !isObject(block.input)) return [];
  const part = {
    type: 'tool_call',
    name: String(block.name),
    arguments: JSON.stringify(block.input),
  } as const;
  const replace = (text: string) => {
    block.input = JSON.parse(text);
  };
  return [{ part, replace }];
}

function ofItem(item: JsonObject): DocumentPart[] {
  switch (item.type) {
    case 'message':
      return objectsIn(item.content).flatMap((part) => [...texted(part, 'text'), ...texted(part, 'refusal')]);
    case 'function_call':
      return toolCall(item, 'arguments');
    case 'custom_tool_call':
      return toolCall(item, 'input');
    default:
      return [];
  }
}

function texted(owner: JsonObject, member: string): DocumentPart[] {
  const text = owner[member];
  if (typeof text !== 'string' || text === '') return [];
  return [{ part: { type: 'text', text }, replace: (changed) => replaceIn(owner, member, changed) }];
}

function toolCall(owner: JsonObject, member: string): DocumentPart[] {
  const text = owner[member];
  if (typeof text !== 'string') return [];
  return [
    {
      part: { type: 'tool_call', name: String(owner.name), arguments: text },
      replace: (changed) => replaceIn(owner, member, changed),
    },
  ];
}

function replaceIn(owner: JsonObject, member: string, text: string): void {
  owner[member] = text;
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
