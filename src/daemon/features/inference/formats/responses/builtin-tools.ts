import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { parseExactly } from '../../../../../shared/json/json-text.ts';
import type { BuiltinTool } from '../../../upstreams/neutral.ts';

/**
 * Tools of the Responses format that the caller runs: what models of other providers are told of them as functions, and their
 * calls in this format. Source: OpenAI's API reference, `ResponseFunctionShellToolCall`, `LocalShellCall` and
 * `ResponseApplyPatchToolCall`; openai/codex for the search.
 */
interface Builtin {
  description: string;
  parameters: Json;
  /** The members of a call. `input` is what the model wrote: a value of any kind, or text that is no JSON. */
  call: (input: unknown) => Json;
}

const text = (description: string): Json => ({ type: 'string', description });
const milliseconds: Json = {
  type: 'integer',
  description: 'The most time that it may take, in milliseconds.',
};
const strings = (description: string): Json => ({ type: 'array', items: { type: 'string' }, description });

/** How models write a change of a file for OpenAI's tool. Source: OpenAI's guide "Apply patch". */
const diffFormat =
  'For update_file, sections that start with a line "@@", or "@@" and the line of a function or class around it; each has a few ' +
  'unchanged lines that start with a space, lines to remove that start with "-" and lines to add that start with "+". For create_file, ' +
  'all lines, each with "+" in front. Without line numbers and file headers.';

const builtins: Readonly<Record<BuiltinTool, Builtin>> = {
  // Its tool has a description and parameters of its own.
  tool_search: {
    description: '',
    parameters: {},
    call: (input) => ({ type: 'tool_search_call', execution: 'client', arguments: input }),
  },
  shell: {
    description: 'Runs commands in a shell on the computer of the user, and returns their output.',
    parameters: {
      type: 'object',
      properties: {
        commands: strings('The commands, which may run at the same time.'),
        timeout_ms: milliseconds,
        max_output_length: { type: 'integer', description: 'The most characters of output to return.' },
      },
      required: ['commands'],
    },
    call(input) {
      const { commands, command, timeout_ms, max_output_length } = membersOf(input);
      const action = {
        commands: textsOf(commands ?? command),
        timeout_ms: numberOf(timeout_ms),
        max_output_length: numberOf(max_output_length),
      };
      return { type: 'shell_call', action, environment: { type: 'local' } };
    },
  },
  local_shell: {
    description: 'Runs a command on the computer of the user, and returns its output.',
    parameters: {
      type: 'object',
      properties: {
        command: strings('The program and its arguments, such as ["bash", "-lc", "ls | wc -l"].'),
        env: {
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'Environment variables.',
        },
        working_directory: text('The folder to run it in.'),
        timeout_ms: milliseconds,
      },
      required: ['command'],
    },
    call(input) {
      const { command, env, working_directory, timeout_ms } = membersOf(input);
      const words = typeof command === 'string' ? ['bash', '-lc', command] : textsOf(command);
      const action = {
        type: 'exec',
        command: words,
        env: isObject(env) ? env : {},
        ...(typeof working_directory === 'string' && { working_directory }),
        ...(typeof timeout_ms === 'number' && { timeout_ms }),
      };
      return { type: 'local_shell_call', action };
    },
  },
  apply_patch: {
    description: 'Creates, changes or deletes one file.',
    parameters: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: text('The path of the file.'),
        diff: text(`What to change; none for delete_file. ${diffFormat}`),
      },
      required: ['type', 'path'],
    },
    call(input) {
      const written = membersOf(input);
      const { type, path, diff } = isObject(written.operation) ? written.operation : written;
      const operation = {
        type: String(type ?? ''),
        path: String(path ?? ''),
        ...(type !== 'delete_file' && { diff: String(diff ?? '') }),
      };
      return { type: 'apply_patch_call', operation };
    },
  },
};

/** The function that stands for a tool; undefined for other types, and for a shell in a container of the provider. */
export function builtinFunction({ type, environment }: Json): Json | undefined {
  if (type !== 'shell' && type !== 'local_shell' && type !== 'apply_patch') return undefined;
  if (isObject(environment) && environment.type !== 'local') return undefined;
  const { description, parameters } = builtins[type];
  return { name: type, description, parameters };
}

/** A call of such a tool in this format. */
export function showBuiltinCall(tool: BuiltinTool, args: string): Json {
  return builtins[tool].call(jsonIn(args));
}

/** The value of JSON text; the text itself if it is incomplete, and an empty object before it begins. */
function jsonIn(args: string): unknown {
  if (args === '') return {};
  try {
    return parseExactly(args);
  } catch {
    return args;
  }
}

function membersOf(input: unknown): Json {
  return isObject(input) ? input : {};
}

/** Models write one command as a text, or several as a list. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
