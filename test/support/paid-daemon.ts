import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type FakeOpenAi, startFakeOpenAi } from './fake-openai.ts';
import { type RunningDaemon, startDaemon } from './start-daemon.ts';

/** The usage of each answer of the fake, and what it costs with the prices of `paid/…`. */
export const paidUsage = { input: 20, output: 100 };
export const paidUsd = 0.00022;

/** `paid/small` and `paid/large` cost 1 and 2 dollars for a million tokens, `priceless/unknown` nobody knows. */
export const paidConfig = (baseUrl: string) => `
upstreams:
  - name: paid
    base_url: ${baseUrl}
    models: [small, large]
    prices: { input: "1", output: "2" }
  - name: priceless
    base_url: ${baseUrl}
    models: [unknown]
`;

export interface PaidDaemon {
  fake: FakeOpenAi;
  daemon: RunningDaemon;
}

/** A daemon for the tests of a file, whose models cost money; the fake answers all with the same. Returned is what gets both. */
export function paidDaemon(): () => PaidDaemon {
  let started: PaidDaemon;
  beforeAll(async () => {
    const fake = await startFakeOpenAi();
    started = { fake, daemon: await startDaemon({ config: paidConfig(fake.baseUrl) }) };
  });
  beforeEach(() => {
    started.fake.forget();
    started.fake.always({ text: 'Some words.', usage: paidUsage });
  });
  afterAll(async () => {
    await started.daemon.stop();
    await started.fake.close();
  });
  return () => started;
}
