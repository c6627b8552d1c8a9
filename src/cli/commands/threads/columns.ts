import type { Thread } from '../../../shared/contract/threads.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';

/** A thread, seen from `now` (milliseconds). */
export const threadColumns = (now: number): Column<Thread>[] => [
  { title: 'id', value: (thread) => thread.id },
  { title: 'title', value: (thread) => thread.title },
  {
    title: 'working',
    value: (thread) => thread.working,
    style: (thread) => (thread.working ? 'yellow' : 'dim'),
  },
  {
    title: 'created_at',
    value: (thread) => thread.created_at,
    show: (thread) => ago(thread.created_at, now),
    isSpare: true,
  },
  {
    title: 'updated_at',
    value: (thread) => thread.updated_at,
    show: (thread) => ago(thread.updated_at, now),
  },
];
