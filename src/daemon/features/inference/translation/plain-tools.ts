import { createHash } from 'node:crypto';
import {
  type Batch,
  elsewhereOf,
  type Inference,
  type InferenceEvent,
  type InputItem,
  isMcpCall,
  type OtherFormats,
  type Tool,
  type ToolChoice,
  type ToolName,
  toolKey,
} from '../../upstreams/neutral.ts';
import type { UpstreamAnswer } from '../../upstreams/upstream.ts';
import { argumentsOf, CustomInputReader, inputSchema } from './custom-input.ts';

/** A call whose tools are all functions without a namespace, as every provider has them. */
export interface PlainCall {
  inference: Inference;
  /** The answer with the names and kinds of tools that the caller uses. */
  restore(answer: UpstreamAnswer): UpstreamAnswer;
}

/**
 * Replaces tools in namespaces by functions with longer names, names that are too long by shorter ones, custom tools by functions
 * with one text, and calls that a provider made to MCP servers by calls of functions. Undefined if there are none.
 */
export function withPlainTools(inference: Inference): PlainCall | undefined {
  const { tools, items } = inference;
  if (!tools.some(isSpecial) && !items.some(isSpecialItem)) return undefined;
  const names = new PlainNames(tools);
  return {
    inference: {
      ...inference,
      instructions: instructionsOf(inference),
      tools: tools.map((tool) => plainTool(tool, names)),
      toolChoice: inference.toolChoice && plainChoice(inference.toolChoice, names),
      items: items.flatMap((item, index) => plainItems(item, index, names)),
    },
    restore(answer) {
      if (answer.kind !== 'stream') return answer;
      const inputs = new Map<number, CustomInputReader>();
      const batches = restored(answer.batches, (event) => restoredEvents(event, names, inputs));
      return { ...answer, batches };
    },
  };
}

/** The same for a provider that has all kinds of tools but no longer names; undefined if all names are short. */
export function withShortNames(inference: Inference): PlainCall | undefined {
  const { tools, items, toolChoice } = inference;
  const isLongOne = (each: Tool | InputItem) =>
    (each.type === 'function' || each.type === 'function_call') && isLong(each.name);
  if (!tools.some(isLongOne) && !items.some(isLongOne)) return undefined;
  const names = new PlainNames(tools);
  const shortened = <Named extends Tool | InputItem>(each: Named): Named =>
    isLongOne(each) ? { ...each, name: names.of({ name: (each as ToolName).name }) } : each;
  return {
    inference: {
      ...inference,
      tools: tools.map(shortened),
      toolChoice: toolChoice && plainChoice(toolChoice, names),
      items: items.map(shortened),
    },
    restore(answer) {
      if (answer.kind !== 'stream') return answer;
      const batches = restored(answer.batches, (event) => [withOwnName(event, names)]);
      return { ...answer, batches };
    },
  };
}

function withOwnName(event: InferenceEvent, names: PlainNames): InferenceEvent {
  if (event.type !== 'item-started' || event.item.kind !== 'function_call') return event;
  return { ...event, item: { ...event.item, name: names.originalOf(event.item.name).name } };
}

function isSpecial(tool: Tool): boolean {
  if (tool.type !== 'function') return tool.type === 'custom';
  return tool.namespace !== undefined || tool.builtin !== undefined || isLong(tool.name);
}

/** Anthropic takes twice as much, so that names of MCP servers and their tools are longer than others accept. */
function isLong(name: string): boolean {
  return name.length > nameCharactersMax;
}

function isSpecialItem(item: InputItem): boolean {
  if (item.type === 'opaque') return isMcpCall(item);
  if (item.type === 'function_call_output') return item.custom === true;
  return (
    item.type === 'function_call' &&
    (item.custom === true || item.builtin !== undefined || item.namespace !== undefined || isLong(item.name))
  );
}

/** The strictest form of a function's name among providers. */
const plainForm = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const nameCharactersMax = 64;
const digestCharacters = 8;
const callIdCharactersMax = 64;

/** What models of OpenAI call the namespace of tools without one. Instructions of Codex name its tools without it. */
const defaultNamespace = 'functions';

/** The names by which a provider knows the tools of a call, and the way back. They depend on the tools only. */
class PlainNames {
  readonly #plain = new Map<string, string>();
  readonly #original = new Map<string, ToolName>();

  constructor(tools: readonly Tool[]) {
    const named = tools.filter((tool) => tool.type !== 'opaque');
    // Names without a namespace are used as they are, so they come first.
    for (const tool of named) if (isUnspaced(tool)) this.of(nameOf(tool));
    for (const tool of named) if (!isUnspaced(tool)) this.of(nameOf(tool));
  }

  of({ name, namespace, custom, builtin }: ToolName): string {
    const tool = {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(custom && { custom }),
      ...(builtin !== undefined && { builtin }),
    };
    const key = toolKey(tool);
    const known = this.#plain.get(key);
    if (known !== undefined) return known;
    const isPlain = namespace === undefined && builtin === undefined && !isLong(name);
    const plain = isPlain ? name : this.#unique(tool, key);
    this.#plain.set(key, plain);
    if (!this.#original.has(plain)) this.#original.set(plain, tool);
    return plain;
  }

  /** Models leave out the namespace, as instructions of clients do. Source: router-for-me/CLIProxyAPI#4106. */
  originalOf(plain: string): ToolName {
    const known = this.#original.get(plain);
    if (known !== undefined) return known;
    const [only, ...others] = [...this.#original.values()].filter(
      ({ name, namespace }) => name === plain && namespace !== undefined,
    );
    return only !== undefined && others.length === 0 ? only : { name: plain };
  }

  #unique({ name, namespace }: ToolName, key: string): string {
    const isPlain = namespace === undefined || namespace === defaultNamespace;
    if (isPlain && plainForm.test(name) && !this.#original.has(name)) return name;
    const joined = namespace === undefined ? name : `${namespacePrefix(namespace)}${name}`;
    if (plainForm.test(joined) && !this.#original.has(joined)) return joined;
    const digest = createHash('sha256').update(key).digest('hex').slice(0, digestCharacters);
    return `${joined.slice(0, nameCharactersMax - digestCharacters - 1)}_${digest}`;
  }
}

/** The prefix of the names of a namespace's tools: `mcp__weather__`. */
function namespacePrefix(namespace: string): string {
  const characters = namespace.replace(/[^a-zA-Z0-9_-]/g, '_');
  return `${/^[a-zA-Z_]/.test(characters) ? '' : '_'}${characters}__`;
}

function isUnspaced(tool: NamedTool): boolean {
  return tool.namespace === undefined && !(tool.type === 'function' && tool.builtin !== undefined);
}

type NamedTool = Exclude<Tool, { type: 'opaque' }>;

function nameOf(tool: NamedTool): ToolName {
  const { name, namespace } = tool;
  const named = namespace === undefined ? { name } : { name, namespace };
  if (tool.type === 'custom') return { ...named, custom: true };
  return tool.builtin === undefined ? named : { ...named, builtin: tool.builtin };
}

function plainTool(tool: Tool, names: PlainNames): Tool {
  if (tool.type === 'opaque') return tool;
  const name = names.of(nameOf(tool));
  if (tool.type === 'custom') {
    return {
      type: 'function',
      name,
      description: descriptionOf(tool),
      parameters: inputSchema,
      strict: undefined,
    };
  }
  const { namespace: _namespace, builtin: _builtin, json: _json, ...plain } = tool;
  return { ...plain, name };
}

/** Without support for grammars, the description of the tool contains them. */
function descriptionOf({ description, grammar }: Extract<Tool, { type: 'custom' }>): string {
  const rule =
    grammar &&
    `The input must conform to this grammar, in ${grammar.syntax} syntax, without quotes or code fences around it:\n${grammar.definition}`;
  return [description, rule ?? 'The input is plain text.'].filter(Boolean).join('\n\n');
}

function instructionsOf({ instructions, namespaces, tools }: Inference): string | undefined {
  const used = new Set(tools.map((tool) => (tool.type === 'opaque' ? undefined : tool.namespace)));
  const lines = Object.entries(namespaces ?? {}).flatMap(([namespace, description]) =>
    used.has(namespace) ? [`Tools named ${namespacePrefix(namespace)}…: ${description}`] : [],
  );
  return lines.length === 0 ? instructions : [instructions, ...lines].filter(Boolean).join('\n\n');
}

function plainChoice(choice: ToolChoice, names: PlainNames): ToolChoice {
  if (choice.mode === 'function') return { mode: 'function', name: names.of(choice) };
  if (choice.mode !== 'allowed') return choice;
  return { ...choice, names: choice.names.map((key) => names.of(fromKey(key))) };
}

function fromKey(key: string): ToolName {
  const dot = key.lastIndexOf('.');
  return dot < 0 ? { name: key } : { namespace: key.slice(0, dot), name: key.slice(dot + 1) };
}

function plainItems(item: InputItem, index: number, names: PlainNames): InputItem[] {
  if (item.type !== 'opaque' || !isMcpCall(item)) return [plainItem(item, names)];
  const { id, name, server_label: namespace, arguments: args, output, error } = item.json;
  const callId = typeof id === 'string' && id.length <= callIdCharactersMax ? id : `mcp_${index}`;
  const text = typeof output === 'string' ? output : JSON.stringify(output ?? error ?? '');
  return [
    {
      type: 'function_call',
      callId,
      name: names.of({ name: String(name), namespace: String(namespace ?? 'mcp') }),
      arguments: typeof args === 'string' && args !== '' ? args : '{}',
    },
    { type: 'function_call_output', callId, output: [{ type: 'text', text }] },
  ];
}

function plainItem(item: InputItem, names: PlainNames): InputItem {
  if (item.type === 'function_call_output') {
    const { custom: _custom, ...plain } = item;
    return plain;
  }
  if (item.type !== 'function_call') return item;
  const { namespace, custom, builtin, ...call } = item;
  const plain = { ...call, name: names.of(item) };
  return custom ? { ...plain, arguments: argumentsOf(item.arguments) } : plain;
}

async function* restored(
  batches: AsyncIterable<Batch>,
  restore: (event: InferenceEvent) => InferenceEvent[],
): AsyncGenerator<Batch> {
  for await (const { events, frames } of batches) yield { events: events.flatMap(restore), frames };
}

function restoredEvents(
  event: InferenceEvent,
  names: PlainNames,
  inputs: Map<number, CustomInputReader>,
): InferenceEvent[] {
  switch (event.type) {
    case 'item-started': {
      if (event.item.kind !== 'function_call') return [event];
      const original = names.originalOf(event.item.name);
      if (original.custom) inputs.set(event.index, new CustomInputReader());
      return [{ ...event, item: { ...event.item, ...original } }];
    }
    case 'arguments': {
      const input = inputs.get(event.index);
      if (input === undefined) return [event];
      return textEvents(event.index, input.push(event.delta));
    }
    case 'item-done':
      return [...textEvents(event.index, inputs.get(event.index)?.end() ?? ''), event];
    default:
      return [event];
  }
}

function textEvents(index: number, delta: string): InferenceEvent[] {
  return delta === '' ? [] : [{ type: 'arguments', index, delta }];
}

/**
 * Replaces the items that only the caller's format has by what they are in others, and leaves out the tools that these remove.
 * The same call if there are none.
 */
export function withoutForeignItems(inference: Inference): Inference {
  const { items, tools } = inference;
  const foreign = items.flatMap((item) => elsewhereOf(item) ?? []);
  if (foreign.length === 0) return inference;
  const ends = callEnds(items);
  const removed = removedTools(foreign);
  const isLeft = (tool: Tool) => tool.type === 'opaque' || !removed.has(tool.name);
  return {
    ...inference,
    items: items.flatMap((item) => {
      const { items: own } = elsewhereOf(item) ?? {};
      return own?.every((each) => hasBothEnds(each, ends)) ? own : [item];
    }),
    tools: newest(tools).filter(isLeft),
  };
}

interface CallEnds {
  calls: Set<string>;
  outputs: Set<string>;
}

function callEnds(items: readonly InputItem[]): CallEnds {
  const ends: CallEnds = { calls: new Set(), outputs: new Set() };
  for (const each of items) {
    for (const item of elsewhereOf(each)?.items ?? [each]) {
      if (item.type === 'function_call') ends.calls.add(item.callId);
      if (item.type === 'function_call_output') ends.outputs.add(item.callId);
    }
  }
  return ends;
}

/** Providers refuse a call without its output, and an output without its call. */
function hasBothEnds(item: InputItem, { calls, outputs }: CallEnds): boolean {
  if (item.type === 'function_call') return outputs.has(item.callId);
  return item.type !== 'function_call_output' || calls.has(item.callId);
}

function removedTools(foreign: readonly OtherFormats[]): Set<string> {
  const removed = new Set<string>();
  for (const { removes } of foreign) {
    if (removes?.isBack) removed.delete(removes.name);
    else if (removes) removed.add(removes.name);
  }
  return removed;
}

/** Without the earlier definitions of tools that are declared again, as each search may find the same ones. */
function newest(tools: readonly Tool[]): Tool[] {
  const byName = new Map<unknown, Tool>();
  for (const tool of tools) byName.set(keyOf(tool), tool);
  return [...byName.values()];
}

function keyOf(tool: Tool): unknown {
  return tool.type === 'opaque' ? tool : toolKey(tool);
}
