import type { LoadTask } from './load-task.ts';
import { type Behaviour, modelName, requestBody, type Wire } from './wires.ts';

/** One kind of load, applied to every program in turn. */
export interface Case {
  id: string;
  title: string;
  /** The client's format. */
  wire: Wire;
  /** The format of the provider behind the gateway; the floors get the client's. */
  providerWire: Wire;
  behaviour: Behaviour;
  isStream: boolean;
  /** Whether a response can be retrieved later. The floors store none. */
  isStored?: boolean;
  connections: number;
  perSecond?: number;
  /** Which figures the report shows. */
  shows: 'latency' | 'answers' | 'first-token' | 'tokens';
}

const answer = { tokens: 50, delayMs: 0 };
const paced = { tokens: 50, delayMs: 10 };
const unpaced = { tokens: 100, delayMs: 0 };
const titles: Record<Wire, string> = {
  chat: 'chat completions',
  responses: 'Responses',
  messages: 'Messages',
};

const rate = (perSecond: number): Case => ({
  id: `rate-${perSecond}`,
  title: `JSON, chat completions, ${perSecond} requests/s`,
  wire: 'chat',
  providerWire: 'chat',
  behaviour: answer,
  isStream: false,
  connections: 64,
  perSecond,
  shows: 'latency',
});

const most = (wire: Wire): Case => ({
  id: `most-${wire}`,
  title: `JSON, ${titles[wire]}, 64 connections`,
  wire,
  providerWire: wire,
  behaviour: answer,
  isStream: false,
  connections: 64,
  shows: 'answers',
});

const unstored = (kind: Case): Case => ({
  ...kind,
  id: `${kind.id}-unstored`,
  title: `${kind.title}, not stored`,
  isStored: false,
});

const streams = (connections: number, wire: Wire, providerWire = wire): Case => ({
  id: `streams-${connections}-${wire}${providerWire === wire ? '' : `-from-${providerWire}`}`,
  title: `${connections} streams at full speed, ${titles[wire]}${providerWire === wire ? '' : ` from ${titles[providerWire]}`}`,
  wire,
  providerWire,
  behaviour: unpaced,
  isStream: true,
  connections,
  shows: 'tokens',
});

const wires: readonly Wire[] = ['chat', 'responses', 'messages'];

export const cases: readonly Case[] = [
  ...wires.map(most),
  unstored(most('responses')),
  ...[10, 100, 500].map(rate),
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
  ...[16, 64].flatMap((connections) => [
    ...wires.map((wire) => streams(connections, wire)),
    unstored(streams(connections, 'responses')),
  ]),
  streams(16, 'responses', 'chat'),
  streams(16, 'chat', 'responses'),
];

export interface Target {
  port: number;
  headers: Record<string, string>;
  isGateway: boolean;
}

export function taskOf(
  { wire, providerWire, behaviour, isStream, isStored = true, connections, perSecond }: Case,
  { port, headers, isGateway }: Target,
  time: Pick<LoadTask, 'warmupMs' | 'measuredMs' | 'answersMax'>,
): LoadTask {
  const name = modelName(behaviour);
  const model = isGateway ? `mock-${providerWire}/${name}` : name;
  return {
    port,
    wire,
    headers,
    body: requestBody(wire, model, { isStream, isStored }),
    connections,
    perSecond,
    streamTokens: isStream ? behaviour.tokens : undefined,
    isStamped: isStream && behaviour.delayMs > 0,
    ...time,
  };
}
