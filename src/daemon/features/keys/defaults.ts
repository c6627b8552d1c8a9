import type {
  KeyDefaultsChange,
  KeyDefaults as KeyDefaultsView,
} from '../../../shared/contract/key-defaults.ts';
import type { KeyDefaults } from '../../handler.ts';

const nothing: KeyDefaults = { cache: null, store: null };

/** Defaults with a change: what it leaves out stays, null clears. Null when there are none then. */
export function changedDefaults(before: KeyDefaults | null, change: KeyDefaultsChange): KeyDefaults | null {
  const { cache = before?.cache ?? null, store = before?.store ?? null } = change;
  return cache === null && store === null ? null : { cache, store };
}

/** Defaults as they are shown. */
export function defaultsView(defaults: KeyDefaults | null): KeyDefaultsView {
  return { ...(defaults ?? nothing) };
}
