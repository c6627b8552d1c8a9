import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { span } from '../../view/durations.ts';
import { connection, reconnect } from '../data/live.ts';

/** Says that events are not followed at the moment, and when that is tried again. */
export function ConnectionBanner() {
  const known = connection.value;
  const seconds = useSignal(0);
  const retryAt = known.state === 'lost' ? known.retryAt : undefined;
  useEffect(() => {
    if (retryAt === undefined) return;
    const count = () => {
      seconds.value = Math.max(0, Math.ceil((retryAt - Date.now()) / 1_000));
    };
    count();
    const timer = setInterval(count, 500);
    return () => clearInterval(timer);
  }, [retryAt, seconds]);
  if (retryAt === undefined) return null;
  return (
    <div class="banner">
      <span role="status">The connection to the gateway was lost.</span>{' '}
      <span aria-hidden="true">Trying again in {span(seconds.value * 1_000)}.</span>
      <button type="button" onClick={reconnect}>
        Try now
      </button>
    </div>
  );
}
