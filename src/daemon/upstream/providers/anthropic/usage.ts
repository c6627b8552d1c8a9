import type { Tokens } from '../../../../shared/money/money.ts';
import { areCounts, countOf, type Json, objectOf, objectsOf } from '../../json.ts';

/** The tokens of a prompt, as they are known before the answer. */
export type PromptTokens = Pick<Tokens, 'input' | 'cachedInput' | 'cacheWrite'>;

/** `input_tokens` excludes tokens read from or written to the cache; the neutral count includes them. */
export function promptOf(usage: Json, { short, long } = writesIn(usage)): PromptTokens {
  const cachedInput = countOf(usage.cache_read_input_tokens) ?? 0;
  const cacheWrite = Math.max(short + long, countOf(usage.cache_creation_input_tokens) ?? 0);
  return { input: (countOf(usage.input_tokens) ?? 0) + cachedInput + cacheWrite, cachedInput, cacheWrite };
}

/**
 * Written tokens by how long they are kept, five minutes or an hour. Source: Anthropic's API reference, and that of new-api for the
 * other names.
 */
function writesIn(usage: Json): { short: number; long: number } {
  const { cache_creation, claude_cache_creation_5_m_tokens, claude_cache_creation_1_h_tokens } = usage;
  const { ephemeral_5m_input_tokens, ephemeral_1h_input_tokens } = objectOf(cache_creation) ?? {};
  return {
    short: countOf(ephemeral_5m_input_tokens) || countOf(claude_cache_creation_5_m_tokens) || 0,
    long: countOf(ephemeral_1h_input_tokens) || countOf(claude_cache_creation_1_h_tokens) || 0,
  };
}

export function reportedTokens(counts: Json): Tokens | undefined {
  const usage = withCompactions(counts);
  if (!areCounts(usage.input_tokens, usage.output_tokens)) return undefined;
  const webSearch = countOf(objectOf(usage.server_tool_use)?.web_search_requests) ?? 0;
  const writes = writesIn(usage);
  const prompt = promptOf(usage, writes);
  // A stream may have the split of its start only, and a total that grows with each use of a tool: the rest is kept as long.
  const longCacheWrite = writes.long > 0 && writes.short === 0 ? prompt.cacheWrite : writes.long;
  return {
    ...prompt,
    output: countOf(usage.output_tokens) ?? 0,
    reasoning: countOf(objectOf(usage.output_tokens_details)?.thinking_tokens) ?? 0,
    ...(longCacheWrite > 0 && { longCacheWrite }),
    ...(webSearch > 0 && { toolUses: { webSearch, fileSearch: 0 } }),
  };
}

const billedCounts = [
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
] as const;

/**
 * Usage with the tokens of compactions, which the API bills and counts among the iterations only. The same usage if there
 * are none. Source: Anthropic's API reference, "Compaction".
 */
export function withCompactions(usage: Json): Json {
  const compactions = objectsOf(usage.iterations).filter(({ type }) => type === 'compaction');
  if (compactions.length === 0) return usage;
  const sums: Json = {};
  for (const name of billedCounts) {
    const added = compactions.reduce((sum, each) => sum + (countOf(each[name]) ?? 0), 0);
    if (added > 0) sums[name] = (countOf(usage[name]) ?? 0) + added;
  }
  return { ...usage, ...sums };
}

/** Adds the counts of an event to those before. A later 0 or null replaces no count. */
export function countUsage(counts: Json, usage: unknown): void {
  for (const [name, value] of Object.entries(objectOf(usage) ?? {})) {
    if (value !== null && !(value === 0 && countOf(counts[name]))) counts[name] = value;
  }
}

/**
 * Usage as clients should read it, who replace the counts that they have by those of the last event: without a 0 in place of
 * an earlier count, and with compactions. The same if nothing is wrong.
 */
export function shownUsage(usage: Json, counts: Json): Json {
  let shown = usage;
  for (const name of billedCounts) {
    if (usage[name] === 0 && countOf(counts[name])) shown = { ...shown, [name]: counts[name] };
  }
  const billed = withCompactions(counts);
  if (billed === counts || usage.iterations === undefined) return shown;
  for (const name of billedCounts) {
    if (billed[name] !== counts[name]) shown = { ...shown, [name]: billed[name] };
  }
  return shown;
}
