import type { FinishReason } from '../../../features/upstreams/neutral.ts';

/** Reasons with which an answer that has calls does not end for them. */
const ownReasons = new Set(['pause_turn', 'stop_sequence', 'compaction']);
const cutReasons = new Set(['max_tokens', 'model_context_window_exceeded']);

/**
 * The stop reason that clients of the format act on: some servers send `end_turn` after calls, at which a tool loop would
 * end, `tool_use` without any, or words of other formats.
 */
export function rightStopReason(
  word: unknown,
  { finish, hasCalls }: { finish: FinishReason; hasCalls: boolean },
): string {
  if (finish === 'content_filter') return 'refusal';
  const isText = typeof word === 'string';
  if (finish === 'max_output_tokens') return isText && cutReasons.has(word) ? word : 'max_tokens';
  if (isText && ownReasons.has(word)) return word;
  return hasCalls ? 'tool_use' : 'end_turn';
}
