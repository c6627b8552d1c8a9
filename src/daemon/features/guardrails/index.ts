export { type CallGuard, Guardrails } from './guardrails.ts';
export type { GuardrailSettings, Hook } from './settings.ts';
export type { HookReply } from './verdict.ts';
