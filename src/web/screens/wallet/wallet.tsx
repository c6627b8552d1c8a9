import { ZoneChoice } from '../../parts/zone-choice.tsx';
import { Balance } from './balance.tsx';
import { Movements } from './movements.tsx';
import { Paywalls } from './paywalls.tsx';

/** The wallet of the caller with its invoices and payments, and the paywalls that it is paid by. */
export function WalletScreen() {
  return (
    <>
      <header class="heading">
        <h1>Wallet & paywalls</h1>
        <ZoneChoice />
      </header>
      <div class="stack">
        <Balance />
        <Movements />
        <Paywalls />
      </div>
    </>
  );
}
