import { createHmac } from 'node:crypto';
import type { Inference, InputItem, ReasoningOrigin } from '../../features/upstreams/neutral.ts';
import type { Conversation } from './conversation.ts';
import { plural } from './format-text.ts';

/** The payload that the simulator's reasoning is sent back with. Like a real provider's signature, it is verified. */
interface Thought {
  turn: number;
  signature: string;
}

export const provider = 'simulator';

// Not a secret: it only detects changed payloads.
const signingKey = 'simulated reasoning';

export function originOf(model: string, turn: number): ReasoningOrigin {
  const thought: Thought = { turn, signature: sign(model, turn) };
  return { provider, model, payload: thought };
}

/** How many items are this model's own earlier thoughts, unchanged. */
export function countRecognized(items: readonly InputItem[], model: string): number {
  return items.filter((item) => item.type === 'reasoning' && isOwn(item.origin, model)).length;
}

function isOwn(origin: ReasoningOrigin | undefined, model: string): boolean {
  if (origin?.provider !== provider || origin.model !== model) return false;
  const { payload } = origin;
  if (typeof payload !== 'object' || payload === null) return false;
  const { turn, signature } = payload as Partial<Thought>;
  return typeof turn === 'number' && signature === sign(model, turn);
}

function sign(model: string, turn: number): string {
  return createHmac('sha256', signingKey).update(`${model}\n${turn}`).digest('base64url').slice(0, 22);
}

/** Whether the caller requests reasoning, by an effort or at least a summary. */
export function isReasoning({ reasoning }: Inference): boolean {
  if (reasoning?.effort !== undefined) return reasoning.effort !== 'none';
  return reasoning?.summary !== undefined;
}

/** A summary with more paragraphs for more effort. `plan` describes the answer in a few words. */
export function summaryOf(inference: Inference, conversation: Conversation, plan: string): string[] {
  const { toolResults, userText, tools } = conversation;
  const observation =
    toolResults.length > 0
      ? `The request ends with ${plural(toolResults.length, 'tool result')}.`
      : `The user wrote ${plural(userText.length, 'character')}.`;
  const paragraphs = [
    `**Reading the request**\n\n${observation}`,
    `**Choosing an answer**\n\n${plan}`,
    `**Checking it**\n\nThis is turn ${conversation.turn} with ${plural(tools.length, 'tool')} offered; the plan holds.`,
  ];
  return paragraphs.slice(0, paragraphCount(inference.reasoning?.effort));
}

function paragraphCount(effort: string | undefined): number {
  if (effort === 'minimal' || effort === 'low') return 1;
  return effort === undefined || effort === 'medium' ? 2 : 3;
}
