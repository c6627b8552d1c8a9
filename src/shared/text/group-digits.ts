/** `1234567` → `1,234,567`: a whole number with separators. */
export function groupDigits(number: string): string {
  const sign = number.startsWith('-') ? '-' : '';
  const digits = number.slice(sign.length);
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return sign + groups.join(',');
}
