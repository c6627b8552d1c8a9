import type { EventView } from '../../../shared/contract/events.ts';
import { listTraces, streamEvents } from '../../addresses.ts';
import { headerFacts } from '../model/header-facts.ts';
import type { ListView } from '../model/list-view.ts';
import type { TuiModel } from '../model/tui-model.ts';
import type { Services } from '../screen.ts';
import { followScreens } from './follow-screens.ts';

interface CurrentOptions {
  model: TuiModel;
  signal: AbortSignal;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const tickMs = 1000;
const factsEveryMs = 15_000;
/** How often rows are fetched whose stream cannot be followed. */
const fallbackEveryMs = 5000;
const pastCalls = 100;

/** Keeps everything that is shown up to date until the signal: by events where there are some, else by asking again. */
export async function keepCurrent({ model, signal, sleep }: CurrentOptions): Promise<void> {
  const { services } = model.options;
  let isFirst = true;
  const follow = services.follow({
    open: (lastId, options) =>
      services.client.stream(streamEvents, { query: {}, headers: { 'last-event-id': lastId } }, options),
    signal,
    onState(connection) {
      model.connection = connection;
      model.changed({ soon: true });
      if (connection.state !== 'live') return;
      // What happened while nobody listened is asked for, and what is shown is fetched anew.
      void fillPast(model, services).then(() => {
        // For a screen reader nothing moves by itself; what was before is there to be read.
        if (isFirst && model.options.isPlain) model.viewOf('traffic')?.togglePause();
        isFirst = false;
      });
      void learnFacts(model, services);
      void model.refresh();
      // The head counts what was not read, and the traffic tells keys by their names.
      for (const id of ['whispers', 'keys']) void model.refresh(model.viewOf(id));
    },
    onEvent: ({ data }) => takeEvent(model, JSON.parse(data) as EventView),
  });
  await Promise.all([follow, tick({ model, signal, sleep })]);
}

function takeEvent(model: TuiModel, event: EventView): void {
  const { services } = model.options;
  if (event.type === 'events.dropped' || event.type === 'events.gap') void fillPast(model, services);
  for (const view of model.views) {
    const isSeen = view === model.view || event.type.startsWith('key.');
    if (isSeen && view.screen.isTouchedBy?.(event)) model.refreshSoon(view);
  }
  if (services.calls.see(event)) model.changed({ soon: true });
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

async function tick({ model, signal, sleep }: CurrentOptions): Promise<void> {
  const { services } = model.options;
  let factsAt = services.now();
  while (!signal.aborted) {
    await sleep(tickMs, signal);
    const now = services.now();
    if (model.connection.state !== 'lost') {
      followScreens(model, signal);
      const every = refreshEveryMs(model.view);
      const { loadedAt } = model.view;
      if (every !== undefined && loadedAt !== undefined && now - loadedAt >= every) void model.refresh();
      if (now - factsAt >= factsEveryMs) {
        factsAt = now;
        void learnFacts(model, services);
      }
    }
    // Times that go on are drawn anew; a screen reader would read them all again.
    if (!model.options.isPlain) model.changed({ soon: true });
  }
}

/** More often while the stream that would tell cannot be followed. */
function refreshEveryMs({ screen, line }: ListView): number | undefined {
  const { refreshEveryMs: every } = screen;
  if (!screen.stream || line?.state === 'live') return every;
  return Math.min(every ?? fallbackEveryMs, fallbackEveryMs);
}
