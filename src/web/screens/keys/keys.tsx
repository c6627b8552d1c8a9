import { ZoneChoice } from '../../parts/zone-choice.tsx';
import { Alerts } from './alerts.tsx';
import { Budgets } from './budgets.tsx';
import { KeyList } from './key-list.tsx';

/** Keys, their limits, and the budgets of the workspace. */
export function Keys() {
  return (
    <>
      <header class="heading">
        <h1>Keys & limits</h1>
        <ZoneChoice />
      </header>
      <div class="stack">
        <KeyList />
        <Budgets />
        <Alerts />
      </div>
    </>
  );
}
