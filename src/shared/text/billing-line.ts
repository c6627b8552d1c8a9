const billingLine = /^x-anthropic-billing-header:[^\n]*\n*/i;

/**
 * Instructions without the line with which Claude Code says to Anthropic who is calling. It differs for each request, so no other
 * provider could cache a prompt that begins with it. Source: anthropics/claude-code#68900.
 */
export function withoutBillingLine(text: string): string {
  return text.replace(billingLine, '');
}
