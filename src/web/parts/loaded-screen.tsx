import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useLayoutEffect } from 'preact/hooks';
import { isReachable, Offline } from '../data/api.ts';
import { ProblemBox } from './problem.tsx';

const retryMs = 2_000;

/** A screen, whose file is loaded when it is opened, and again when the gateway is back. What fails in it leaves the rest of the page. */
export function LoadedScreen({ screen }: { screen: { load(): Promise<ComponentType> } }) {
  const content = useSignal<ComponentType | undefined>(undefined);
  const hasFailed = useSignal(false);
  const [failure] = useErrorBoundary();
  const attempt = () =>
    screen.load().then(
      (loaded) => {
        content.value = loaded;
      },
      () => {
        hasFailed.value = true;
      },
    );
  // Before the first paint, not after it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each screen.
  useLayoutEffect(() => void attempt(), [screen]);
  const isWaiting = hasFailed.value && content.value === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: until it is loaded.
  useEffect(() => {
    if (!isWaiting) return;
    const retry = async () => {
      if (!(await isReachable())) return;
      await attempt();
      // Some browsers remember that a file could not be loaded, until the page is loaded again.
      if (content.value === undefined) location.reload();
    };
    const timer = setInterval(() => void retry(), retryMs);
    return () => clearInterval(timer);
  }, [isWaiting]);
  if (failure !== undefined) return <ProblemBox error={failure} />;
  const Content = content.value;
  if (Content) return <Content />;
  return isWaiting ? <ProblemBox error={new Offline()} /> : null;
}
