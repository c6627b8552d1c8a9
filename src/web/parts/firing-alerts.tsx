import { useEffect } from 'preact/hooks';
import { listFirings } from '../../shared/endpoints.ts';
import { now } from '../data/now.ts';
import { useQuery } from '../data/query.ts';
import { Time } from './time.tsx';

/** The alerts that fire, asked for again each minute; nothing without any. */
export function FiringAlerts() {
  const firing = useQuery(listFirings, { params: { workspace: 'me' }, query: { open: true } });
  const minute = now.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again when the minute changes.
  useEffect(() => {
    if (firing.data !== undefined) firing.reload();
  }, [minute]);
  if (!firing.data || firing.data.data.length === 0) return null;
  return (
    <section class="firing-alerts" aria-label="Firing now">
      <ul>
        {firing.data.data.map(({ id, alert, message, fired_at: firedAt }) => (
          <li key={id}>
            <strong>{alert}</strong> {message}{' '}
            <span class="quiet">
              since <Time at={firedAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
