import { isObject, type Json } from '../../../../shared/faults/invalid-request.ts';
import type { Inference, InputItem, ReasoningOrigin, Tool, Wire } from '../../upstreams/neutral.ts';
import { UpstreamFailure } from '../../upstreams/upstream.ts';
import { parseMessages } from '../formats/chat-completions/parse.ts';
import { parseMessageItems } from '../formats/messages/parse-messages.ts';
import { parseInput } from '../formats/responses/parse-input.ts';

/**
 * Finds the caller's field that became a field of the provider's request. Translation merges, moves and drops parts of a
 * conversation, so the request is written again with marked contents, and the marks show where each part went. All of this
 * happens only after a provider has rejected a request.
 */
export class FieldOrigins {
  readonly #inference: Inference;
  readonly #write: (inference: Inference) => unknown;
  readonly #marks = new Marks();
  #attempt: Attempt | undefined;

  /** `write` returns the body of the provider's request for a call. */
  constructor(inference: Inference, write: (inference: Inference) => unknown) {
    this.#inference = inference;
    this.#write = write;
  }

  /** The caller's path for a path in the provider's request, such as `messages.1.content.0`; undefined if none is known. */
  of(path: string): string | undefined {
    const trail = trailOf(this.#written().body, stepsOf(path));
    const last = trail.at(-1);
    if (last === undefined) return undefined;
    if (trail[0]?.step === 'tools') return this.#tool(trail, stepsOf(path));
    if (Array.isArray(last.value)) {
      const elements = last.value.flatMap((element) => this.#partIn(element) ?? []);
      return commonPath(elements)?.replace(/\[\d+\]$/, '');
    }
    // A field without contents, such as an id, belongs to the part around it.
    for (const { value, isElement } of trail.toReversed()) {
      const found = commonPath(this.#marks.in(value));
      if (found !== undefined)
        return value === last.value && !isElement ? found : this.#withoutMembers(found, value);
      if (isElement) return undefined;
    }
    return undefined;
  }

  /** The caller's path for a path in a request of the same format, where parts may have another position only. */
  ofRelayed(path: string): string | undefined {
    const [, item = '', list = '', part = '', members = ''] = relayedPath.exec(path) ?? [];
    if (item === '') return path;
    const text = trailOf(this.#written().body, stepsOf(path)).at(-1)?.value;
    const own = typeof text === 'string' ? commonPath(this.#marks.in(text)) : undefined;
    if (own !== undefined) return own;
    const found = this.of(`${item}${part}`);
    if (found === undefined) return this.#hasSameLength(list) ? path : undefined;
    const element = part === '' ? /^\w+\[\d+\]/.exec(found)?.[0] : found;
    return element?.endsWith(']') ? `${element}${members}` : found;
  }

  /** The caller's path of the part that the provider's format cannot express. */
  ofUnsupported(): string | undefined {
    return this.#partIn(this.#written().unsupported);
  }

  #partIn(value: unknown): string | undefined {
    const found = commonPath(this.#marks.in(value));
    return found && this.#withoutMembers(found, value);
  }

  /** The path of the part or item that a member is in: `input[1].content[0].image_url` without the image_url. */
  #withoutMembers(path: string, value: unknown): string {
    const { wire } = this.#inference;
    const isOutput = isObject(value) && Object.keys(value).some((member) => outputMembers.has(member));
    if (isOutput && wire !== 'embeddings') return outputPaths[wire].exec(path)?.[0] ?? path;
    const from = path.indexOf('.', path.lastIndexOf(']') + 1);
    return from < 0 || /\.(?:content|output)$/.test(path) ? path : path.slice(0, from);
  }

  /** A tool, and its member if the path names one. */
  #tool(trail: readonly Node[], steps: readonly string[]): string | undefined {
    const element = trail.findLast(({ isElement }) => isElement);
    const tool = element && commonPath(this.#marks.in(element.value));
    if (element === undefined || tool === undefined) return undefined;
    const rest = steps.slice(element.depth);
    const at = rest.findIndex((step) => toolMembers.has(step));
    if (at < 0) return tool.replace(/\.(function|custom)$/, '');
    const [member = '', ...others] = rest.slice(at);
    const name = schemaMembers.has(member)
      ? this.#inference.wire === 'messages'
        ? 'input_schema'
        : 'parameters'
      : member;
    return [tool, name, ...others].join('.');
  }

  /** Whether all messages or items of the caller were sent, so that each has the same position. */
  #hasSameLength(list: string): boolean {
    const { body } = this.#written();
    const [sent, own] = [isObject(body) ? body[list] : undefined, this.#inference.body[list]];
    return Array.isArray(sent) && Array.isArray(own) && sent.length === own.length;
  }

  #written(): Attempt {
    this.#attempt ??= attempt(this.#inference, this.#marks, this.#write);
    return this.#attempt;
  }
}

/** An item or message, the list that it is in, a part of it, and members of either. */
const relayedPath = /^((input|messages)(?:\[\d+\]|\.\d+))(\.content(?:\[\d+\]|\.\d+))?(.*)/s;

/** Members of the outputs of tools, in the formats of providers and in our own. */
const outputMembers = new Set(['tool_use_id', 'tool_call_id', 'functionResponse', 'response', 'output']);

/** The path of a tool's output, in front of those of its parts. */
const outputPaths: Record<Wire, RegExp> = {
  responses: /^input\[\d+\]/,
  chat: /^messages\[\d+\]/,
  messages: /^messages\[\d+\]\.content\[\d+\]/,
};

const schemaMembers = new Set([
  'parameters',
  'parameters_json_schema',
  'parametersJsonSchema',
  'input_schema',
]);
const toolMembers = new Set([...schemaMembers, 'name', 'description', 'strict']);

/** The request with marked contents, or the part that it cannot contain. */
interface Attempt {
  body?: unknown;
  unsupported?: unknown;
}

function attempt(inference: Inference, marks: Marks, write: (inference: Inference) => unknown): Attempt {
  const marked = markedCall(inference, marks);
  if (marked === undefined) return {};
  try {
    return { body: write(marked) };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { unsupported: error.details.unsupported };
  }
}

function stepsOf(path: string): string[] {
  return path.split(/[.[\]]+/).filter((step) => step !== '');
}

/** A value on the way to a field. */
interface Node {
  step: string;
  value: unknown;
  /** Whether it is an element of a list. */
  isElement: boolean;
  /** How many steps of the path lead to it. */
  depth: number;
}

/**
 * The values on the way to a field, as far as there are any; none if a list is shorter. Providers add steps of their own, such
 * as the type of a block: those are skipped.
 */
function trailOf(root: unknown, steps: readonly string[]): Node[] {
  const trail: Node[] = [];
  let value = root;
  for (const [at, step] of steps.entries()) {
    const isElement = Array.isArray(value);
    const name = isObject(value) ? memberNamed(value, step) : step;
    if (isElement && !(Number(step) < (value as unknown[]).length)) return [];
    if (name === undefined || typeof value !== 'object' || value === null) {
      if (at === 0) return [];
      continue;
    }
    value = (value as Json)[name];
    trail.push({ step, value, isElement, depth: at + 1 });
  }
  return trail;
}

/** Errors of Gemini name members in snake case. */
function memberNamed(object: Json, step: string): string | undefined {
  const plain = (name: string) => name.replaceAll('_', '').toLowerCase();
  return Object.keys(object).find((name) => name === step || plain(name) === plain(step));
}

/** The common prefix of several paths; undefined if they differ from the first step on. */
function commonPath(paths: readonly string[]): string | undefined {
  const [first, ...others] = paths.map((path) => path.match(/\.?\w+|\[\d+\]/g) ?? []);
  if (first === undefined) return undefined;
  const different = first.findIndex((step, at) => others.some((other) => other[at] !== step));
  return (different < 0 ? first : first.slice(0, different)).join('') || undefined;
}

/** Texts that stand for paths in the caller's request and are found wherever translation puts them, also within data. */
class Marks {
  readonly #paths: string[] = [];

  of(path: string): string {
    return `§${this.#paths.push(path) - 1}§`;
  }

  /** The paths whose marks a value contains. */
  in(value: unknown): string[] {
    const text = JSON.stringify(value) ?? '';
    const decoded =
      text.match(encodedMark)?.map((encoded) => Buffer.from(encoded, 'base64').toString()) ?? [];
    const found = [text, ...decoded].flatMap((each) => [...each.matchAll(/§(\d+)§/g)]);
    return found.flatMap(([, index]) => this.#paths[Number(index)] ?? []);
  }
}

/** A mark in base64. */
const encodedMark = /wqc[A-Za-z0-9+/]+/g;

/** Sealed contents stay as they are in the original call, so what is in them does not matter. */
const unread: ReasoningOrigin = { provider: '', model: '', payload: undefined };
const open = () => unread;

/** The call with a mark in each of the caller's own texts, files and tools; undefined if it cannot be marked. */
function markedCall(inference: Inference, marks: Marks): Inference | undefined {
  const { wire, body, items, instructions } = inference;
  if (wire === 'embeddings') return undefined;
  const list = wire === 'responses' ? 'input' : 'messages';
  const content = markedContent(body[list], { path: list, name: list, marks });
  const marked = markedItems(inference, content, marks);
  if (marked === undefined) return undefined;
  return {
    ...inference,
    body: { ...body, [list]: content },
    items: [...items.slice(0, items.length - marked.length), ...marked],
    instructions: instructions?.trim()
      ? marks.of(wire === 'messages' ? 'system' : 'instructions')
      : instructions,
    tools: inference.tools.map((tool, index) => markedTool(tool, index, marks)),
  };
}

function markedTool(tool: Tool, index: number, marks: Marks): Tool {
  if (tool.type === 'opaque') return tool;
  return { ...tool, description: marks.of(('param' in tool && tool.param) || `tools[${index}]`) };
}

/** The items of marked content, in place of the call's last ones; reasoning stays as it is. */
function markedItems({ wire, items }: Inference, content: unknown, marks: Marks): InputItem[] | undefined {
  if (wire === 'responses') {
    const own = parseInput(content ?? [], open, () => '');
    const earlier = items.length - own.length;
    if (earlier < 0) return undefined;
    return items.slice(earlier).map((item, at) => markedItem(item, own[at], marks));
  }
  if (!Array.isArray(content)) return undefined;
  const parsed =
    wire === 'chat'
      ? parseMessages(content as Json[], open)
      : parseMessageItems(content as Parameters<typeof parseMessageItems>[0], open);
  const own = parsed.filter(({ type }) => type !== 'reasoning');
  // Items of a thread come first.
  let at = own.length - items.filter(({ type }) => type !== 'reasoning').length;
  if (at > 0) return undefined;
  return items.map((item) => (item.type === 'reasoning' ? item : markedItem(item, own[at++], marks)));
}

function markedItem(item: InputItem, marked: InputItem | undefined, marks: Marks): InputItem {
  if (marked?.type !== item.type || marked.type === 'reasoning') return item;
  // A conversation that was shortened has a summary in place of some of the caller's messages.
  if (marked.type === 'message' && item.type === 'message' && (item.isSummary || item.role !== marked.role))
    return item;
  if (marked.type !== 'opaque' || marked.param === undefined) return marked;
  return { ...marked, json: { ...marked.json, mark: marks.of(marked.param) } };
}

const textMembers = new Set(['text', 'refusal', 'content', 'output', 'input']);
const dataMembers = new Set(['url', 'image_url', 'file_url', 'file_data', 'data']);
/** Contents of known types are less deep; others are left alone below. */
const depthMax = 12;

interface MarkContext {
  path: string;
  /** The member's name. */
  name: string;
  marks: Marks;
}

/** Messages or items with marks in place of their texts and data. Empty texts, which translation may drop, stay empty. */
function markedContent(value: unknown, { path, name, marks }: MarkContext, depth = 0): unknown {
  if (typeof value === 'string') {
    if (value.trim() === '') return value;
    if (textMembers.has(name)) return marks.of(path);
    if (dataMembers.has(name)) return markedData(value, marks.of(path));
    return name === 'arguments' ? JSON.stringify({ mark: marks.of(path) }) : value;
  }
  if (depth >= depthMax || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    return value.map((each, at) =>
      markedContent(each, { path: `${path}[${at}]`, name: '', marks }, depth + 1),
    );
  }
  // The input of a tool_use block: an object of any form.
  if (name === 'input') return { mark: marks.of(path) };
  return Object.fromEntries(
    Object.entries(value).map(([member, each]) => {
      // Formats have no other names; paths with such names would be ambiguous.
      if (!/^\w{1,40}$/.test(member)) return [member, each];
      return [member, markedContent(each, { path: `${path}.${member}`, name: member, marks }, depth + 1)];
    }),
  );
}

/** A URL, base64 or text of the same kind; its start, by which types of files are known, is kept. */
function markedData(data: string, mark: string): string {
  if (/^https?:/i.test(data)) return `${data.slice(0, 256)}#${mark}`;
  const [head = ''] = /^data:[^,]{0,256},/i.exec(data) ?? [];
  const payload = data.slice(head.length);
  const isBase64 = head === '' ? /^[\w+/]*={0,2}$/.test(payload.slice(0, 64)) : /;\s*base64/i.test(head);
  if (!isBase64) return `${head}${mark}`;
  return `${head}${/^[\w+/]{8}/.exec(payload)?.[0] ?? ''}${Buffer.from(mark).toString('base64')}`;
}
