import { useSignal } from '@preact/signals';
import type { Payment, WalletInvoice } from '../../../shared/contract/payments.ts';
import { createInvoice, listInvoices, listPayments } from '../../../shared/endpoints.ts';
import { bitcoin } from '../../../shared/money/sats.ts';
import { change, useQuery } from '../../data/query.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { actions, number } from '../../parts/table-head.tsx';
import { Time } from '../../parts/time.tsx';
import { Typed } from '../../parts/typed.tsx';
import { Invoice } from './invoice.tsx';
import { wholeSats } from './whole-sats.ts';

const shownMax = 100;

/** The latest invoices and payments, newest first. */
export function Movements() {
  const invoices = useQuery(listInvoices, { query: { limit: shownMax } });
  const payments = useQuery(listPayments, { query: { limit: shownMax } });
  const opened = useSignal<string | undefined>(undefined);
  const rows = [...(invoices.data?.data ?? []), ...(payments.data?.data ?? [])].sort(
    (one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt),
  );
  return (
    <Panel
      title="Invoices & payments"
      queries={[invoices, payments]}
      action={{
        label: 'Create an invoice',
        dialog: (close) => (
          <CreateInvoice
            onClose={close}
            onCreated={(id) => {
              close();
              opened.value = id;
            }}
          />
        ),
      }}
    >
      {rows.length === 0 ? (
        <p class="quiet">
          None. An invoice asks others for a payment; <Typed>gateway pay</Typed> pays one.
        </p>
      ) : (
        <DataTable
          name="movements"
          columns={[
            { name: 'For', value: (row) => row.description },
            { ...number('Amount'), value: amountOf },
            { name: 'Status', value: ({ status }) => status },
            { name: 'Created', value: ({ createdAt }) => Date.parse(createdAt) },
            actions,
          ]}
          rows={rows}
        >
          {(row) =>
            'paymentId' in row ? (
              <PaymentRow key={row.paymentId} payment={row} />
            ) : (
              <InvoiceRow
                key={row.id}
                invoice={row}
                onOpen={() => {
                  opened.value = row.id;
                }}
              />
            )
          }
        </DataTable>
      )}
      {opened.value !== undefined && (
        <Invoice
          id={opened.value}
          onClose={() => {
            opened.value = undefined;
          }}
        />
      )}
    </Panel>
  );
}

/** In millisatoshis; what was paid is below zero. */
function amountOf(row: WalletInvoice | Payment): number {
  return 'paymentId' in row ? -row.quotedAmountMsats : (row.receivedMsats ?? row.amountMsats);
}

function InvoiceRow({ invoice, onOpen }: { invoice: WalletInvoice; onOpen: () => void }) {
  const { id, description, amountMsats, receivedMsats, status, createdAt } = invoice;
  return (
    <tr class={status === 'expired' ? 'is-ended' : ''}>
      <th scope="row" class="is-title" dir="auto">
        {description || 'invoice'}
        <code class="quiet sub">{id}</code>
      </th>
      <td class="number">+{bitcoin(receivedMsats ?? amountMsats)}</td>
      <td>{status}</td>
      <td class="quiet">
        <Time at={createdAt} />
      </td>
      <td>
        <span class="row-actions">
          <button type="button" aria-label={`Show the invoice ${description || id}`} onClick={onOpen}>
            Show
          </button>
        </span>
      </td>
    </tr>
  );
}

function PaymentRow({ payment }: { payment: Payment }) {
  const { paymentId, description, host, status, failureReason, quotedAmountMsats, feeMsats, createdAt } =
    payment;
  return (
    <tr class={status === 'failed' ? 'is-ended' : ''}>
      <th scope="row" class="is-title" dir="auto">
        {description || host || 'payment'}
        <code class="quiet sub">{paymentId}</code>
      </th>
      <td class="number">
        −{bitcoin(quotedAmountMsats)}
        {feeMsats !== null && feeMsats > 0 && <span class="quiet sub">fee {bitcoin(feeMsats)}</span>}
      </td>
      <td>
        {status}
        {failureReason && <span class="bad"> ({failureReason})</span>}
      </td>
      <td class="quiet">
        <Time at={createdAt} />
      </td>
      <td />
    </tr>
  );
}

interface CreateProps {
  onClose: () => void;
  onCreated: (id: string) => void;
}

function CreateInvoice({ onClose, onCreated }: CreateProps) {
  return (
    <Dialog title="Create an invoice" onClose={onClose}>
      <Form
        fields={[
          { name: 'sats', label: 'Amount in sats', kind: 'number', isRequired: true, param: 'amountSats' },
          {
            name: 'description',
            label: 'What is paid for',
            placeholder: 'Two coffees',
            hint: 'The payer sees it.',
            maxLength: 200,
          },
        ]}
        action="Create"
        onCancel={onClose}
        onSubmit={async ({ sats, description }) => {
          const { data } = await change(createInvoice, {
            headers: {},
            body: {
              amountSats: wholeSats(sats),
              ...(description.trim() && { description: description.trim() }),
            },
          });
          onCreated(data.invoice.id);
        }}
      />
    </Dialog>
  );
}
