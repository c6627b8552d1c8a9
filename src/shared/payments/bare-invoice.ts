/** An invoice or LNURL without what surrounds it where people and programs copy it: blanks, line breaks and `lightning:`. */
export function bareInvoice(text: string): string {
  return text.replace(/[\s\u200b-\u200d\u2060\ufeff]+/g, '').replace(/^lightning:(?:\/\/)?/i, '');
}
