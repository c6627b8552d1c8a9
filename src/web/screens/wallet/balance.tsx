import { useSignal } from '@preact/signals';
import { createWallet, getBalance, useFaucet } from '../../../shared/endpoints.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { bitcoin } from '../../../shared/money/sats.ts';
import { change, useQuery } from '../../data/query.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Secret } from '../../parts/secret.tsx';
import { toast } from '../../parts/toast.tsx';
import { Typed } from '../../parts/typed.tsx';
import { wholeSats } from './whole-sats.ts';

/** What can be spent, or the way to a wallet. */
export function Balance() {
  const query = useQuery(getBalance, {});
  const words = useSignal<string | undefined>(undefined);
  const { error } = query;
  const isMissing = error instanceof ReceivedError && error.code === 'not_found';
  const balance = isMissing ? undefined : query.data?.data;
  const forgetWords = () => {
    words.value = undefined;
  };
  const isPlayMoney = balance?.backend === 'embedded';
  return (
    <Panel
      title="Balance"
      queries={isMissing ? [] : [query]}
      action={
        isPlayMoney
          ? { label: 'Add play money', dialog: (close) => <AddPlayMoney onClose={close} /> }
          : undefined
      }
    >
      {isMissing && <NoWallet onCreated={(mnemonic) => (words.value = mnemonic)} />}
      {balance && (
        <>
          <p class="balance">{bitcoin(balance.balanceMsats)}</p>
          <p class="quiet">
            {balance.pendingMsats > 0 && (
              <>{bitcoin(balance.pendingMsats)} reserved for pending payments · </>
            )}
            {isPlayMoney
              ? 'play money, for payments within this host'
              : `${balance.backend}, ${balance.network}`}
          </p>
          {balance.problem && <p class="warn">{balance.problem}</p>}
        </>
      )}
      {words.value !== undefined && (
        <Dialog title="The recovery phrase of the new wallet" onClose={forgetWords}>
          <p>
            The words are the identity of the wallet. They do not hold the money: the balance is in the data
            of this host. <Typed>gateway wallet phrase</Typed> shows them again.
          </p>
          <Secret secret={words.value} onDone={forgetWords} />
        </Dialog>
      )}
    </Panel>
  );
}

function AddPlayMoney({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Add play money" onClose={onClose}>
      <Form
        fields={[{ name: 'sats', label: 'Sats', kind: 'number', value: '10000', param: 'amountSats' }]}
        action="Add"
        onCancel={onClose}
        onSubmit={async ({ sats }) => {
          await change(useFaucet, { body: { amountSats: wholeSats(sats) } });
          onClose();
        }}
      />
    </Dialog>
  );
}

function NoWallet({ onCreated }: { onCreated: (mnemonic: string | undefined) => void }) {
  return (
    <Form
      fields={[]}
      action="Create a wallet"
      onSubmit={async () => {
        const { data } = await change(createWallet, { body: {} });
        toast('The wallet was created.');
        onCreated(data.mnemonic);
      }}
    >
      <p class="quiet">You have no wallet. One is needed to be paid by invoices and paywalls, and to pay.</p>
    </Form>
  );
}
