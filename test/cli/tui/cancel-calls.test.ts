import { expect, test } from 'vitest';
import { keys, openTui } from '../../support/open-tui.ts';

let sequence = 0;

function event(type: string, data: Record<string, unknown>) {
  sequence += 1;
  return { type, sequence, created_at: '2026-11-21T09:00:00.000Z', data };
}

test('a running request is ended after a confirmation; one that is over cannot be', async () => {
  const canceled: unknown[] = [];
  const tui = openTui({
    screen: 'traffic',
    answers: {
      'POST /v1/traces/{request_id}/cancel': ({ params }) => {
        canceled.push(params?.request_id);
        return { object: 'call.cancellation', request_id: params?.request_id, canceled: true };
      },
    },
  });
  tui.calls.apply(event('request.started', { request_id: 'req_1', model: 'sim/slow' }));
  tui.state.changed();
  await tui.shows('sim/slow');
  tui.type(keys.ctrlD);
  await tui.shows('End the running call to sim/slow?');
  tui.type('y');
  await tui.shows('Ended one call.');
  expect(canceled).toEqual(['req_1']);
  tui.calls.apply(event('request.completed', { request_id: 'req_1', model: 'sim/slow', status: 'canceled' }));
  tui.state.changed();
  await tui.shows('canceled');
  tui.type(keys.ctrlD);
  await tui.shows('There is nothing to end here.');
});
