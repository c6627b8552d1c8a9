import { effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export const screenTitle = signal('');

/** What a screen shows, if that has a name of its own. */
const shownTitle = signal<string | undefined>(undefined);

effect(() => {
  document.title = [shownTitle.value ?? screenTitle.value, 'Gateway'].filter(Boolean).join(' · ');
});

/** Names the tab after what a screen shows, as long as it does. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    shownTitle.value = title;
    return () => {
      shownTitle.value = undefined;
    };
  }, [title]);
}
