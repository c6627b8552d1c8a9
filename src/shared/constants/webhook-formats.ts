/** The forms in which receivers of messages expect them; `standard` is that of Standard Webhooks 1.0.0. */
export const webhookFormats = [
  'standard',
  'slack',
  'discord',
  'teams',
  'ntfy',
  'gotify',
  'telegram',
  'feishu',
  'dingtalk',
] as const;
export type WebhookFormat = (typeof webhookFormats)[number];
