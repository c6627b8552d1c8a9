import { isObject, type Json, objectOf, parseObject } from '../../json.ts';
import { startOfTag } from './tagged-thoughts.ts';

const opening = '<tool_call>';
const closing = '</tool_call>';
/** Longer texts are no call. */
const charactersMax = 1_000_000;

/** The parameters of each tool that the model may call, by its name. */
export type Callable = ReadonlyMap<string, Json | undefined>;

/**
 * Calls that a model wrote into its text, in the forms of Qwen, Hermes and GLM, where its server did not read them. A text is a call only
 * if it names a tool of the request. Source: Gitlawb/openclaude#1791, NousResearch/hermes-agent#83023, panbanda/higgs#177.
 */
export class WrittenCalls {
  readonly #tools: Callable;
  #isInside = false;
  /** The text of a call so far, or what may be the beginning of one. */
  #held = '';
  #calls = 0;
  #isOff: boolean;

  constructor(tools: Callable) {
    this.#tools = tools;
    this.#isOff = tools.size === 0;
  }

  /** Whether a further text may be no more than a text. */
  mayAdd(text: string): boolean {
    return this.#isOff || (this.#held === '' && !this.#isInside && this.#calls === 0 && !text.includes('<'));
  }

  /** Moves calls from the content of a delta to its `tool_calls`. `isLast`: nothing follows. */
  take(delta: Json, { isLast }: { isLast: boolean }): void {
    if (this.#isOff) return;
    const text = this.#held + (typeof delta.content === 'string' ? delta.content : '');
    const isCall = Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0;
    if (text === '' && !isCall) return;
    this.#held = '';
    if (isCall) {
      this.#isOff = true;
      delta.content = this.#isInside ? opening + text : text;
      return;
    }
    const calls: Json[] = [];
    const shown = this.#split(text, calls);
    const rest = isLast ? this.#rest() : '';
    const said = shown + rest;
    // Between calls and after them are blank lines.
    delta.content = this.#calls > 0 && said.trim() === '' ? '' : said;
    if (calls.length > 0) delta.tool_calls = calls;
  }

  #split(given: string, calls: Json[]): string {
    let shown = '';
    let text = given;
    for (;;) {
      if (!this.#isInside) {
        const at = text.indexOf(opening);
        if (at < 0) {
          const from = startOfTag(text, opening);
          this.#held = text.slice(from);
          return shown + text.slice(0, from);
        }
        shown += text.slice(0, at);
        text = text.slice(at + opening.length);
        this.#isInside = true;
      }
      const end = text.indexOf(closing);
      if (end < 0) {
        this.#held = text;
        return text.length > charactersMax ? shown + this.#rest() : shown;
      }
      const written = text.slice(0, end);
      text = text.slice(end + closing.length);
      this.#isInside = false;
      const call = callIn(written, this.#tools);
      if (call === undefined) shown += opening + written + closing;
      else calls.push({ index: this.#calls++, type: 'function', function: call });
    }
  }

  /** What was held back and is no call after all. */
  #rest(): string {
    const rest = this.#isInside ? opening + this.#held : this.#held;
    this.#isInside = false;
    this.#held = '';
    return rest;
  }
}

function callIn(written: string, tools: Callable): { name: string; arguments: string } | undefined {
  const text = written.trim();
  const json = text.startsWith('{') ? parseObject(text) : undefined;
  const { name, args } = json ? ofJson(json) : ofTags(text, tools);
  return name !== undefined && tools.has(name) && args !== undefined ? { name, arguments: args } : undefined;
}

interface Written {
  name?: string;
  args?: string;
}

function ofJson({ name, arguments: given, parameters }: Json): Written {
  const args = given ?? parameters ?? {};
  if (typeof name !== 'string') return {};
  return { name, args: isObject(args) ? JSON.stringify(args) : typeof args === 'string' ? args : undefined };
}

/** `<function=NAME><parameter=KEY>VALUE</parameter></function>`, or `NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>`. */
function ofTags(text: string, tools: Callable): Written {
  const isNamed = text.startsWith('<function=');
  const name = (isNamed ? text.slice('<function='.length).split('>', 1)[0] : text.split('<', 1)[0])?.trim();
  if (name === undefined || !tools.has(name)) return {};
  const args: [string, unknown][] = [];
  const [start, middle, end] = isNamed
    ? ['<parameter=', '>', '</parameter>']
    : ['<arg_key>', '</arg_key>', '</arg_value>'];
  const properties = objectOf(tools.get(name)?.properties) ?? {};
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at)) {
    const keyEnd = text.indexOf(middle, at + start.length);
    const valueEnd = keyEnd < 0 ? -1 : text.indexOf(end, keyEnd);
    if (valueEnd < 0) return {};
    const key = text.slice(at + start.length, keyEnd).trim();
    const value = text.slice(keyEnd + middle.length, valueEnd).replace(/^\s*<arg_value>/, '');
    args.push([key, argumentIn(value, objectOf(properties[key]))]);
    at = valueEnd;
  }
  return { name, args: JSON.stringify(Object.fromEntries(args)) };
}

/** A value that is written as it is, without one line break on either side. Only a text may look like something else. */
function argumentIn(written: string, schema: Json | undefined): unknown {
  const text = written.replace(/^\r?\n/, '').replace(/\r?\n$/, '');
  const { type } = schema ?? {};
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
