import { useSignal } from '@preact/signals';
import { localZone } from '../../../shared/time/time-zones.ts';
import { plannedTime } from '../../../view/times.ts';
import { mayNotify } from '../../data/alert-notices.ts';
import { now } from '../../data/now.ts';
import { csvForm, type Theme, theme, zone, zoneName } from '../../data/preferences.ts';
import { zoneNames } from '../../data/zones.ts';
import { Choice } from '../../parts/choice.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Select } from '../../parts/select.tsx';

const themes: readonly { value: Theme; title: string }[] = [
  { value: 'system', title: 'As the system' },
  { value: 'light', title: 'Light' },
  { value: 'dark', title: 'Dark' },
];

/** What this browser keeps: theme, time zone, the form of CSV, and whether it notifies of alerts. */
export function Appearance() {
  const local = localZone();
  const names = zoneNames();
  return (
    <Panel title="This browser">
      <dl class="terms">
        <dt>Theme</dt>
        <dd>
          <Choice
            label="Theme"
            options={themes}
            value={theme.value as Theme}
            onChange={(value) => {
              theme.value = value;
            }}
          />
        </dd>
        <dt>Times and days</dt>
        <dd>
          <Select
            label="in the zone"
            options={[
              { value: 'local', title: `${local} (local)` },
              { value: 'UTC', title: 'UTC' },
              ...names.map((name) => ({ value: name, title: name })),
            ]}
            value={zone.value}
            onChange={(value) => {
              zone.value = value;
            }}
          />
          <span class="quiet"> where it is {plannedTime(now.value, zoneName())}</span>
        </dd>
        <dt>CSV</dt>
        <dd>
          <Choice
            label="CSV"
            options={[
              { value: 'comma', title: 'a,b,1.5' },
              { value: 'semicolon', title: 'a;b;1,5' },
            ]}
            value={csvForm.value}
            onChange={(value) => {
              csvForm.value = value;
            }}
          />
        </dd>
        <dt>Alerts</dt>
        <dd>
          <Notifications />
        </dd>
      </dl>
    </Panel>
  );
}

function Notifications() {
  const isAllowed = useSignal(mayNotify());
  const isRefused = useSignal(false);
  if (isAllowed.value) return <>shown as notifications while a tab of the page is open</>;
  return (
    <>
      <button
        type="button"
        onClick={async () => {
          isAllowed.value = (await Notification.requestPermission()) === 'granted';
          isRefused.value = !isAllowed.value;
        }}
      >
        Notify me in the background
      </button>
      {isRefused.value && <span class="warn"> The browser does not allow it for this address.</span>}
    </>
  );
}
