import { listTraces } from '../../addresses.ts';
import { headerFacts } from '../model/header-facts.ts';
import type { TuiModel } from '../model/tui-model.ts';
import type { Services } from '../screen.ts';
import { followEvents } from './follow-events.ts';

interface Clock {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

interface CurrentOptions {
  model: TuiModel;
  services: Services;
  signal: AbortSignal;
  clock: Clock;
  /** A daemon that was started again may be elsewhere. */
  forgetHost(): void;
}

const tickMs = 1000;
const factsEveryMs = 15_000;
const pastCalls = 100;

/** Keeps everything that is shown up to date until the signal: by events where there are some, else by asking again. */
export async function keepCurrent({
  model,
  services,
  signal,
  clock,
  forgetHost,
}: CurrentOptions): Promise<void> {
  const follow = followEvents({
    client: () => services.client,
    signal,
    now: clock.now,
    sleep: clock.sleep,
    onRetry: forgetHost,
    onState(connection) {
      model.connection = connection;
      model.changed({ soon: true });
    },
    onOpen() {
      // What happened while nobody listened is asked for, and what is shown is fetched anew.
      void fillPast(model, services);
      void learnFacts(model, services);
      void model.refresh();
    },
    onEvent(event) {
      const isSeen = services.calls.see(event);
      if (isSeen) for (const view of model.views) if (view.screen.id === 'traffic') view.noteHeld();
      if (event.type === 'events.dropped' || event.type === 'events.gap') void fillPast(model, services);
      if (isSeen) model.changed({ soon: true });
    },
  });
  await Promise.all([follow, tick({ model, services, signal, clock })]);
}

async function fillPast(model: TuiModel, { client, calls }: Services): Promise<void> {
  try {
    calls.fill((await client.call(listTraces, { query: { limit: pastCalls } })).data);
  } catch {
    // A key that may not read traces sees what happens from now on.
  }
  model.changed({ soon: true });
}

async function learnFacts(model: TuiModel, services: Services): Promise<void> {
  try {
    model.facts = { ...model.facts, ...(await headerFacts(services)) };
  } catch {
    // The head keeps what it knew; that the line is lost is told there too.
  }
  model.changed({ soon: true });
}

async function tick({
  model,
  services,
  signal,
  clock,
}: Pick<CurrentOptions, 'model' | 'services' | 'signal' | 'clock'>): Promise<void> {
  let factsAt = clock.now();
  while (!signal.aborted) {
    await clock.sleep(tickMs, signal);
    const now = clock.now();
    if (model.connection.state !== 'lost') {
      const { view } = model;
      const every = view.screen.refreshEveryMs;
      if (every !== undefined && view.loadedAt !== undefined && now - view.loadedAt >= every)
        void model.refresh();
      if (now - factsAt >= factsEveryMs) {
        factsAt = now;
        void learnFacts(model, services);
      }
    }
    // Times that go on are drawn anew; a screen reader would read them all again.
    if (!model.options.isPlain) model.changed({ soon: true });
  }
}
