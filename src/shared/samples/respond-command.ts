import { requestParts } from '../comparison/request-parts.ts';
import { shellQuoted } from './literals.ts';

type Json = Record<string, unknown>;

/** Members that do not change what is asked, or that a command decides. */
const ignored: ReadonlySet<string> = new Set([
  ...['stream', 'stream_options', 'service', 'metadata', 'user', 'safety_identifier', 'prompt_cache_key'],
  ...['model', 'messages', 'input', 'instructions', 'system', 'type', 'include', 'parallel_tool_calls'],
]);

/** The options that `gateway respond` has for members of requests. */
const options: Readonly<Record<string, string>> = {
  temperature: '--temperature',
  max_output_tokens: '--max-output-tokens',
  max_completion_tokens: '--max-output-tokens',
  max_tokens: '--max-output-tokens',
  reasoning_effort: '--reasoning-effort',
  'reasoning.effort': '--reasoning-effort',
  previous_response_id: '--previous',
};

/** The `gateway respond` command that asks the same; or why there is none. */
export function respondCommand(request: Json): { command: string } | { reason: string } {
  const parts = requestParts(request);
  const tool = parts.find(({ kind }) => kind === 'tool');
  if (tool) return { reason: 'it has tools' };
  const instructions = parts.filter(({ kind, role }) => kind === 'instructions' || isInstruction(role));
  const said = parts.filter((part) => !instructions.includes(part));
  if (said.some(({ role }) => role !== 'user')) return { reason: 'it has earlier answers' };
  if ([...said, ...instructions].some(({ type }) => type !== 'text'))
    return { reason: 'it has more than text' };
  const flags = flagsOf(request);
  if ('reason' in flags) return flags;
  const text = (of: typeof parts) => of.map((part) => part.text).join('\n\n');
  const words = [
    'gateway respond',
    ...(typeof request.model === 'string' ? [`--model ${shellQuoted(request.model)}`] : []),
    ...(instructions.length > 0 ? [`--instructions ${shellQuoted(text(instructions))}`] : []),
    ...flags.words,
    '--no-stdin',
    `-- ${shellQuoted(text(said))}`,
  ];
  return { command: words.join(' ') };
}

function isInstruction(role: string): boolean {
  return role === 'system' || role === 'developer';
}

function flagsOf(request: Json): { words: string[] } | { reason: string } {
  const words: string[] = [];
  for (const [name, value] of membersOf(request)) {
    if (value === undefined || value === null || ignored.has(name)) continue;
    const option = options[name];
    if (name === 'store') words.push(value === false ? '--no-store' : '--store');
    else if (option === undefined) return { reason: `the command has no option for \`${name}\`` };
    else words.push(`${option} ${shellQuoted(String(value))}`);
  }
  return { words };
}

/** With the members of `reasoning` by their paths. */
function membersOf({ reasoning, ...request }: Json): [name: string, value: unknown][] {
  const inner = typeof reasoning === 'object' && reasoning !== null ? Object.entries(reasoning) : [];
  return [
    ...Object.entries(request),
    ...inner.map(([name, value]): [string, unknown] => [`reasoning.${name}`, value]),
  ];
}
