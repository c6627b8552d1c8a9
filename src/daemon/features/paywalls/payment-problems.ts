import type { ChargeProblem } from './charges.ts';
import type { TokenProblem } from './l402.ts';

/** Why what a client presents pays for nothing. */
export type PaymentProblem = TokenProblem | 'unknown_token' | 'used_up' | ChargeProblem;

/** The same as sentences for clients. */
export const problemTexts: Record<PaymentProblem, string> = {
  malformed_credential:
    'The credential cannot be read: it is `L402 <token>:<preimage>` or `Payment <base64url>`.',
  invalid_token: 'The token was not issued here.',
  unknown_token: 'The token was not issued here.',
  other_paywall: 'The payment is for another paywall.',
  caveat_not_met: 'The token has a caveat that is not met here.',
  expired: 'The payment has expired.',
  invalid_preimage: 'The preimage does not prove this payment.',
  used_up: 'The token is used up.',
  unknown_challenge: 'The challenge was not issued here.',
  already_used: 'The payment was used before.',
  amount_mismatch: 'The amount is not the one that was asked for.',
  network_mismatch: 'The network is not the one that was asked for.',
  request_mismatch: 'The payment is for a request with another method, path or body.',
};
