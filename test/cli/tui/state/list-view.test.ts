import { expect, test } from 'vitest';
import type { Screen } from '../../../../src/cli/tui/screens/screen.ts';
import type { Services } from '../../../../src/cli/tui/services/services.ts';
import { ListView } from '../../../../src/cli/tui/state/list-view.ts';

test('the next page of a query that was replaced meanwhile is not shown', async () => {
  const late = Promise.withResolvers<{ rows: string[]; next: null }>();
  const run = async (query: string, _services: Services, { after }: { after: string | undefined }) =>
    after === undefined ? { rows: [`first of ${query}`], next: '1' } : late.promise;
  const screen: Partial<Screen> = { find: { isQuery: () => true, run }, idOf: String };
  const view = new ListView(screen as Screen, {} as Services);
  await view.find('old');
  const next = view.find('old', { isNext: true });
  await view.find('new');
  late.resolve({ rows: ['second of old'], next: null });
  await next;
  expect(view.found).toEqual({ query: 'new', rows: ['first of new'], next: '1' });
});

test('the rows of a query are not shown once another one was asked, or it was left', async () => {
  const answers = new Map<string, (found: { rows: string[]; next: null }) => void>();
  const run = (query: string) =>
    new Promise<{ rows: string[]; next: null }>((resolve) => answers.set(query, resolve));
  const screen: Partial<Screen> = { find: { isQuery: () => true, run }, idOf: String };
  const view = new ListView(screen as Screen, {} as Services);
  const [slow, quick] = [view.find('slow'), view.find('quick')];
  answers.get('quick')?.({ rows: ['quick'], next: null });
  await quick;
  answers.get('slow')?.({ rows: ['slow'], next: null });
  await slow;
  expect(view.found?.rows).toEqual(['quick']);

  const left = view.find('left');
  view.leaveFound();
  answers.get('left')?.({ rows: ['left'], next: null });
  await left;
  expect(view.found).toBeUndefined();
});
