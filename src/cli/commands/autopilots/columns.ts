import type { Autopilot, AutopilotDetails } from '../../../shared/contract/autopilots.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';

export const autopilotColumns = (now: number): Column<Autopilot>[] => [
  { title: 'id', value: ({ id }) => id, isSpare: true },
  { title: 'handle', value: ({ handle }) => handle, essential: true },
  { title: 'name', value: ({ displayName }) => displayName },
  {
    title: 'status',
    value: ({ status }) => status,
    style: ({ status }) => (status === 'active' ? 'green' : 'dim'),
  },
  { title: 'visibility', value: ({ visibility }) => visibility },
  { title: 'version', value: ({ configVersion }) => configVersion, align: 'right' },
  { title: 'tagline', value: ({ tagline }) => tagline, show: ({ tagline }) => tagline || '–', isSpare: true },
  { title: 'updated', value: ({ updatedAt }) => updatedAt, show: ({ updatedAt }) => ago(updatedAt, now) },
];

export const detailColumns = (now: number): Column<AutopilotDetails>[] => [
  ...autopilotColumns(now),
  { title: 'profile', value: ({ profile }) => JSON.stringify(profile) },
  { title: 'policy', value: ({ policy }) => JSON.stringify(policy) },
];
