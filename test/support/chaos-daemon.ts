import { afterAll, expect } from 'vitest';
import type { Wire } from '../../src/daemon/features/upstreams/neutral.ts';
import { answers } from './chaos-behaviours.ts';
import { type ChaosUpstream, startChaosUpstream } from './chaos-upstream.ts';
import { eventually } from './eventually.ts';
import { type Ledger, OpenLedger, type UsageRow } from './ledger.ts';
import type { OpenAiWire } from './model-client.ts';
import { type RunningDaemon, startDaemon } from './start-daemon.ts';

/** The price of each token, from `prices` in dollars per million. */
export const nanoUsdPerToken = { input: 1_000, output: 2_000 };
const prices = '{input: "1", output: "2"}';

/**
 * The format of a caller and that of the provider: the same, so that frames are passed on, or the other, so that they
 * are translated.
 */
export const formatPairs: { wire: OpenAiWire; upstream: OpenAiWire; name: string }[] = (
  ['responses', 'chat'] as const
).flatMap((wire) =>
  (['responses', 'chat'] as const).map((upstream) => ({
    wire,
    upstream,
    name: `${wire} from ${upstream}`,
  })),
);

const wires = ['responses', 'chat', 'messages'] as const;

/** The same with Anthropic's format. */
export const allFormatPairs: { wire: Wire; upstream: Wire; name: string }[] = wires.flatMap((wire) =>
  wires.map((upstream) => ({ wire, upstream, name: `${wire} from ${upstream}` })),
);

/** Each format passed on, and translated from and to that of chat completions. */
export const mainFormatPairs = allFormatPairs.filter(
  ({ wire, upstream }) => wire === upstream || wire === 'chat' || upstream === 'chat',
);

/** Configures a chaos upstream as the providers `chat`, `responses`, `messages`, `spare` and `unpriced`. */
export function chaosConfig(baseUrl: string, more = ''): string {
  const upstream = (name: string, wire: Wire, priced = true) =>
    `{name: ${name}, base_url: "${baseUrl}", models: ["*"], wire: ${wire}${priced ? `, prices: ${prices}` : ''}}`;
  const all = [
    upstream('chat', 'chat'),
    upstream('responses', 'responses'),
    upstream('messages', 'messages'),
    upstream('spare', 'chat'),
    upstream('unpriced', 'chat', false),
  ];
  return `upstreams: [${all.join(', ')}]\n${more}`;
}

export interface ChaosDaemon {
  daemon: RunningDaemon;
  chaos: ChaosUpstream;
  ledger(): Ledger;
  /** The settled calls of a model. */
  usageOf(model: string): UsageRow[];
  /** Waits for the only usage row of a model. */
  waitForUsage(model: string): Promise<UsageRow>;
  /** Waits until no call is under way, neither here nor at the provider, and reads the ledger. */
  waitUntilIdle(): Promise<Ledger>;
  close(): Promise<void>;
}

/** A daemon in this process whose every provider is one chaos upstream. */
export async function startChaosDaemon(more = ''): Promise<ChaosDaemon> {
  const chaos = await startChaosUpstream(answers());
  const daemon = await startDaemon({ config: chaosConfig(chaos.baseUrl, more) });
  const books = new OpenLedger(daemon.home);
  return {
    daemon,
    chaos,
    ledger: () => books.read(),
    usageOf: (model) => books.usageOf(model),
    waitForUsage: async (model) => {
      const [row] = await eventually(`usage of ${model}`, () => {
        const rows = books.usageOf(model);
        return rows.length > 0 && rows;
      });
      return row as UsageRow;
    },
    waitUntilIdle: async () => {
      await eventually('no call is under way', () => chaos.busy === 0 && books.countHolds() === 0);
      return books.read();
    },
    close: async () => {
      books.close();
      await daemon.stop();
      await chaos.close();
    },
  };
}

/** One for all tests of the calling file; afterwards no call may be running and the ledger must be consistent. */
export async function chaosForThisFile(): Promise<ChaosDaemon> {
  const chaotic = await startChaosDaemon();
  afterAll(async () => {
    const { faults } = await chaotic.waitUntilIdle();
    expect(faults).toEqual([]);
    await chaotic.close();
  });
  return chaotic;
}
