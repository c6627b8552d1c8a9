import type { ComponentType } from 'preact';
import { Overview } from './overview/overview.tsx';

/** A screen, loaded when it is opened: `#/NAME`. */
export interface Screen {
  name: string;
  title: string;
  /** Goes there after `g`. */
  key: string;
  load(): Promise<ComponentType>;
}

/** All screens, in the order of the navigation; the first one opens by default. */
export const screens: readonly Screen[] = [
  {
    name: 'overview',
    title: 'Overview',
    key: 'o',
    // In the first file, as a browser that opens the page would wait for another one.
    load: async () => Overview,
  },
  {
    name: 'live',
    title: 'Live',
    key: 'l',
    load: async () => (await import('./live/live.tsx')).Live,
  },
  {
    name: 'calls',
    title: 'Calls',
    key: 'c',
    load: async () => (await import('./calls/calls.tsx')).Calls,
  },
  {
    name: 'playground',
    title: 'Playground',
    key: 'p',
    load: async () => (await import('./playground/playground.tsx')).Playground,
  },
  {
    name: 'usage',
    title: 'Usage',
    key: 'u',
    load: async () => (await import('./usage/usage.tsx')).Usage,
  },
  {
    name: 'keys',
    title: 'Keys & limits',
    key: 'k',
    load: async () => (await import('./keys/keys.tsx')).Keys,
  },
  {
    name: 'models',
    title: 'Models & providers',
    key: 'm',
    load: async () => (await import('./models/models.tsx')).Models,
  },
  {
    name: 'threads',
    title: 'Threads & responses',
    key: 't',
    load: async () => (await import('./threads/threads.tsx')).Threads,
  },
  {
    name: 'decisions',
    title: 'Decisions',
    key: 'd',
    load: async () => (await import('./decisions/decisions.tsx')).Decisions,
  },
  {
    name: 'wallet',
    title: 'Wallet & paywalls',
    key: 'w',
    load: async () => (await import('./wallet/wallet.tsx')).WalletScreen,
  },
  {
    name: 'setup',
    title: 'Setup',
    key: 'e',
    load: async () => (await import('./setup/setup.tsx')).Setup,
  },
  {
    name: 'settings',
    title: 'Settings',
    key: 's',
    load: async () => (await import('./settings/settings.tsx')).Settings,
  },
];
