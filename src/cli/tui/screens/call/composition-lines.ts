import type { RequestComposition } from '../../../../shared/contract/content.ts';
import { briefCount } from '../../../../view/numbers.ts';
import { cacheLines } from '../../../commands/traces/composition.ts';
import { bar } from '../../text/charts.ts';
import type { RenderOptions } from '../../text/render-options.ts';

const names: Readonly<Record<string, string>> = {
  system: 'system',
  tool: 'tools',
  message: 'messages',
  tool_call: 'tool calls',
  tool_result: 'tool results',
  reasoning: 'reasoning',
  image: 'images',
  audio: 'audio',
  file: 'files',
};

const nameWidth = 14;
const barWidthMax = 40;

/** What fills the context of a request, and where the prompt cache of the call before it ended. */
export function compositionLines(composition: RequestComposition, options: RenderOptions): string[] {
  const { paint, width, isPlain } = options;
  const { by_kind: kinds, tokens } = composition;
  const read = kinds.filter((one) => one.kind !== 'parameter' && one.tokens > 0);
  const most = Math.max(1, ...read.map((one) => one.tokens));
  const room = Math.min(barWidthMax, width - nameWidth - 20);
  const title = `${paint('bold', 'context')}  ${paint('dim', `≈ ${briefCount(tokens)} tokens`)}`;
  const lines = read.map((one) => {
    const name = `${names[one.kind] ?? one.kind}${one.parts > 1 ? ` ${one.parts}` : ''}`;
    const size = briefCount(one.tokens).padStart(8);
    const chart = isPlain || room < 4 ? '' : `  ${paint('cyan', bar(one.tokens / most, room))}`;
    return `${name.padEnd(nameWidth)}${size}${chart}`;
  });
  const cache = cacheLines(composition, width);
  return [title, ...lines, ...(cache.length > 0 ? ['', ...cache] : [])];
}
