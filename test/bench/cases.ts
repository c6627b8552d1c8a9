import type { LoadTask } from './load-task.ts';
import { type Behaviour, modelName, requestBody, type Wire } from './wires.ts';

/** One kind of load. It is put on the provider directly and on the gateway in turn. */
export interface Case {
  id: string;
  title: string;
  /** What the client speaks. */
  wire: Wire;
  /** What the provider behind the gateway speaks; another wire than the client's is translated. */
  providerWire: Wire;
  behaviour: Behaviour;
  isStream: boolean;
  connections: number;
  perSecond?: number;
  /** What is read off the results. */
  shows: 'latency' | 'answers' | 'first-token' | 'tokens';
}

const answer = { tokens: 50, delayMs: 0 };
const paced = { tokens: 50, delayMs: 10 };
const unpaced = { tokens: 100, delayMs: 0 };
const json = { behaviour: answer, isStream: false, connections: 64 };
const flood = { behaviour: unpaced, isStream: true, connections: 16, shows: 'tokens' } as const;

export const cases: readonly Case[] = [
  {
    ...json,
    id: 'rate',
    title: 'JSON, chat completions, 500 requests/s',
    wire: 'chat',
    providerWire: 'chat',
    perSecond: 500,
    shows: 'latency',
  },
  {
    ...json,
    id: 'most-chat',
    title: 'JSON, chat completions, 64 connections',
    wire: 'chat',
    providerWire: 'chat',
    shows: 'answers',
  },
  {
    ...json,
    id: 'most-responses',
    title: 'JSON, Responses, 64 connections',
    wire: 'responses',
    providerWire: 'responses',
    shows: 'answers',
  },
  {
    id: 'paced',
    title: '50 streams, a token each 10 ms, chat completions',
    wire: 'chat',
    providerWire: 'chat',
    behaviour: paced,
    isStream: true,
    connections: 50,
    shows: 'first-token',
  },
  { ...flood, id: 'flood-chat', title: '16 streams at full speed, chat', wire: 'chat', providerWire: 'chat' },
  {
    ...flood,
    id: 'flood-responses',
    title: '16 streams at full speed, Responses',
    wire: 'responses',
    providerWire: 'responses',
  },
  {
    ...flood,
    id: 'flood-messages',
    title: '16 streams at full speed, Messages',
    wire: 'messages',
    providerWire: 'messages',
  },
  {
    ...flood,
    id: 'flood-responses-from-chat',
    title: '16 streams at full speed, Responses from a chat provider',
    wire: 'responses',
    providerWire: 'chat',
  },
  {
    ...flood,
    id: 'flood-chat-from-responses',
    title: '16 streams at full speed, chat from a Responses provider',
    wire: 'chat',
    providerWire: 'responses',
  },
];

export interface Target {
  port: number;
  headers: Record<string, string>;
  /** The gateway finds a provider by the first part of a model's name; the provider itself has no such part. */
  isGateway: boolean;
}

export function taskOf(
  kind: Case,
  target: Target,
  time: Pick<LoadTask, 'warmupMs' | 'measuredMs'>,
): LoadTask {
  const { wire, behaviour, isStream, connections, perSecond } = kind;
  const name = modelName(behaviour);
  const model = target.isGateway ? `mock-${kind.providerWire}/${name}` : name;
  return {
    port: target.port,
    wire,
    headers: target.headers,
    body: requestBody(wire, model, { isStream }),
    connections,
    perSecond,
    streamTokens: isStream ? behaviour.tokens : undefined,
    isStamped: isStream && behaviour.delayMs > 0,
    ...time,
  };
}
