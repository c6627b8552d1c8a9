import type { Log } from '../base/log.ts';

/**
 * Logs what no one handles, an exception in a listener or a timer or a rejection, in place of ending the process: it concerns
 * one connection, call or task, and not the others. Until the returned function is called.
 */
export function outliveFaults(log: Pick<Log, 'error'>): () => void {
  // Rejections come here, too.
  const onFault = (error: unknown, origin: string): void => {
    try {
      log.error({ err: error, origin }, 'an unexpected fault; the daemon goes on');
    } catch {
      // An exception here would end the process after all.
    }
  };
  process.on('uncaughtException', onFault);
  return () => void process.off('uncaughtException', onFault);
}
