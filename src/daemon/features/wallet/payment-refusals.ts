import { ApiError } from '../../../shared/errors.ts';
import { inputFault } from '../../../shared/faults/input-faults.ts';
import { formatMsat } from './amounts.ts';
import type { SpendingLimits } from './spending-limits.ts';
import type { NewPayment, PaymentRecord, PaymentRefusal, WalletRecord } from './store.ts';

/** The payment, if it was recorded; otherwise fails with the reason. */
export function recorded(
  payment: NewPayment,
  result: PaymentRecord | PaymentRefusal,
  limits: SpendingLimits | undefined,
): PaymentRecord {
  if (!('refused' in result)) return result;
  switch (result.refused) {
    case 'insufficient':
      throw insufficient(payment.amount + payment.feeLimit, result.available);
    case 'budget':
      throw overBudget(payment.amount + payment.feeLimit, result.left, limits);
    case 'taken':
      throw taken({ id: payment.walletId }, result.payment);
    case 'unreconciled':
      throw unreconciled();
    case 'expired':
      throw inputFault('invoice', 'has expired or was paid');
    default:
      throw inputFault('invoice', 'cannot be settled within this host');
  }
}

export const unreconciledText =
  'This host restored a backup, and its wallets pay nothing until they are compared with its Lightning node. Its owner can see why: gateway wallet reconcile';

export function unreconciled(): ApiError {
  return new ApiError('unavailable', { message: unreconciledText });
}

export function insufficient(needed: number, available: number): ApiError {
  return new ApiError('insufficient_balance', {
    message: `The payment needs up to ${formatMsat(needed)}, fees included; your wallet has ${formatMsat(available)}.`,
  });
}

/** The id of a payment is shown only to its payer. */
export function taken(
  wallet: Pick<WalletRecord, 'id'>,
  { id, walletId, state }: Pick<PaymentRecord, 'id' | 'walletId' | 'state'>,
): ApiError {
  const which = walletId === wallet.id ? `: ${id}` : '';
  const message =
    state === 'pending'
      ? `A payment of this invoice is pending${which}.`
      : `This invoice is already paid${which}.`;
  return new ApiError('conflict', { param: 'invoice', message });
}

export function overBudget(needed: number, left: number, limits: SpendingLimits | undefined): ApiError {
  return new ApiError('permission', {
    param: 'invoice',
    message: `The payment needs up to ${formatMsat(needed)}, fees included, more than \`${limits?.names.perDay}\` leaves for today: ${formatMsat(Math.max(0, left))}.`,
  });
}
