import {
  elsewhereOf,
  type Inference,
  type InputItem,
  type OtherFormats,
  type Tool,
  toolKey,
} from '../../upstreams/neutral.ts';

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
