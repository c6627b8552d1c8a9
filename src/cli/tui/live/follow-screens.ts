import type { ListView } from '../model/list-view.ts';
import type { TuiModel } from '../model/tui-model.ts';

/**
 * Follows the streams of the screens whose rows have been fetched: each event changes the rows, or has them fetched anew. Call it
 * again and again; what is followed already is left alone.
 */
export function followScreens(model: TuiModel, signal: AbortSignal): void {
  for (const view of model.views) {
    const isReady = view.loadedAt !== undefined && view.failure === undefined;
    if (view.screen.stream && view.line === undefined && isReady) void followScreen(model, view, signal);
  }
}

async function followScreen(model: TuiModel, view: ListView, signal: AbortSignal): Promise<void> {
  const { stream } = view.screen;
  if (!stream) return;
  const { services } = model.options;
  let wasLive = false;
  await services.follow({
    open: (lastId, options) => stream.open(services.client, lastId, options),
    after: stream.cursor(view.fetchedRows()),
    signal,
    onState(connection) {
      view.line = connection;
      // What was taken away meanwhile is told by no stream.
      if (connection.state === 'live' && wasLive) void model.refresh(view);
      wasLive ||= connection.state === 'live';
      model.changed({ soon: true });
    },
    onEvent(event) {
      if (!view.takeEvent(event)) model.refreshSoon(view);
      if (view === model.view && model.pages.front?.page.life?.isTold?.(event)) model.renewSoon();
      model.changed({ soon: true });
    },
  });
}
