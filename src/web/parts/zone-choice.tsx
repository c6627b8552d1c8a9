import { zone, zoneName } from '../data/preferences.ts';

/** In which zone times are shown and days begin. */
export function ZoneChoice() {
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const others = ['local', 'UTC'].includes(zone.value) ? [] : [zone.value];
  return (
    <label class="zone" title={`Days begin at midnight in ${zoneName()}`}>
      <span class="quiet">Zone</span>{' '}
      <select
        value={zone.value}
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
