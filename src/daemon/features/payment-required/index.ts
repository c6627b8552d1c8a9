export { canonicalBase64Url, canonicalJson, challengeId } from './challenge-id.ts';
export { Challenges } from './challenges.ts';
export { CreditPurchases } from './credit-purchases.ts';
export { creditPurchaseHandlers } from './handlers.ts';
export { chargeChallenge } from './offer.ts';
export { PaidCalls, type PayableCall, type PayableRequest } from './paid-calls.ts';
export {
  carriesPayment,
  credentialMismatch,
  type LightningCredential,
  lightningCredentialIn,
  type RefusalReason,
} from './proof.ts';
export { type RateSettings, Rates } from './rates.ts';
