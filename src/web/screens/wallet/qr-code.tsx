import { encode } from 'uqr';

/** An invoice as a QR code: dark on light in both themes, as scanners expect it. */
export function QrCode({ text }: { text: string }) {
  // In upper case the code is smaller.
  const { data, size } = encode(text.toUpperCase(), { ecc: 'L', border: 2 });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="The invoice as a QR code">
      <path d={path} />
    </svg>
  );
}
