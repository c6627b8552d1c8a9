import { useApp } from 'ink';
import { useCallback, useRef } from 'react';

type Work = () => Promise<void> | void;

/**
 * Returns a function that leaves the terminal to something while it runs, and draws the screen again afterwards. What is to run
 * meanwhile runs next, but not what runs already, as a key that is held asks for it: Ink fails where the terminal is left twice.
 */
export function useSuspension(): (work: Work) => void {
  const { suspendTerminal } = useApp();
  const waiting = useRef(new Set<Work>());
  const last = useRef(Promise.resolve());
  return useCallback(
    (work) => {
      if (waiting.current.has(work)) return;
      waiting.current.add(work);
      last.current = last.current
        .then(() => suspendTerminal(work))
        .finally(() => waiting.current.delete(work));
    },
    [suspendTerminal],
  );
}
