import { getInvoice } from '../../../shared/endpoints.ts';
import { bitcoin } from '../../../shared/money/sats.ts';
import { useQuery } from '../../data/query.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { Time } from '../../parts/time.tsx';
import { QrCode } from './qr-code.tsx';

/** An invoice as a QR code and as text; once it is paid, when and how much. */
export function Invoice({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery(getInvoice, { params: { invoiceId: id } });
  const invoice = query.data?.data.invoice;
  return (
    <Dialog title={invoice ? `Invoice of ${bitcoin(invoice.amountMsats)}` : 'Invoice'} onClose={onClose}>
      {query.error !== undefined && <ProblemBox error={query.error} retry={query.reload} />}
      {invoice && (
        <div class="stack">
          {invoice.description && <p dir="auto">{invoice.description}</p>}
          <p role="status">
            {invoice.status === 'paid' ? (
              <>
                <b>Paid</b>: {bitcoin(invoice.receivedMsats ?? invoice.amountMsats)} at{' '}
                <Time at={invoice.paidAt ?? invoice.createdAt} />
              </>
            ) : invoice.status === 'expired' ? (
              <b>Expired</b>
            ) : (
              <>
                Not paid yet; it expires at <Time at={invoice.expiresAt} />.
              </>
            )}
          </p>
          {invoice.status === 'open' && (
            <>
              <QrCode text={invoice.paymentRequest} />
              <div class="secret">
                <code>{invoice.paymentRequest}</code>
                <CopyButton label="Copy" text={() => invoice.paymentRequest} />
              </div>
            </>
          )}
        </div>
      )}
    </Dialog>
  );
}
