import type { Profile } from '../../../shared/contract/profile.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';

type Shown = Profile & { handle?: string };

export const profileColumns = (now: number): Column<Shown>[] => [
  { title: 'id', value: ({ id }) => id },
  { title: 'handle', value: ({ handle }) => handle, essential: true },
  { title: 'name', value: ({ name }) => name },
  { title: 'email', value: ({ email }) => email, show: ({ email }) => email || '–' },
  { title: 'avatar', value: ({ avatar }) => avatar, show: ({ avatar }) => avatar || '–' },
  { title: 'created', value: ({ createdAt }) => createdAt, show: ({ createdAt }) => ago(createdAt, now) },
  { title: 'updated', value: ({ updatedAt }) => updatedAt, show: ({ updatedAt }) => ago(updatedAt, now) },
];
