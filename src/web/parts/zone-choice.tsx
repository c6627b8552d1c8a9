import { useSignal } from '@preact/signals';
import { localZone } from '../../shared/time/time-zones.ts';
import { zone, zoneName } from '../data/preferences.ts';
import { zoneNames } from '../data/zones.ts';

/** In which zone times are shown and days begin. */
export function ZoneChoice() {
  // There are more than 400, which is more than the rest of a screen.
  const hasAll = useSignal(false);
  const showAll = () => {
    hasAll.value = true;
  };
  const local = localZone();
  const all = hasAll.value ? zoneNames() : [zone.value];
  const others = all.filter((name) => !['local', 'UTC'].includes(name));
  return (
    <label class="zone" title={`Days begin at midnight in ${zoneName()}`}>
      <span class="quiet">Zone</span>{' '}
      <select
        value={zone.value}
        onPointerEnter={showAll}
        onFocus={showAll}
        onChange={(event) => {
          zone.value = event.currentTarget.value;
        }}
      >
        <option value="local">{local} (local)</option>
        <option value="UTC">UTC</option>
        {others.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
