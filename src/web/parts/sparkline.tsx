const width = 120;
const height = 28;

/** How a number developed, as a small line; the number itself is next to it. */
export function Sparkline({ values }: { values: readonly number[] }) {
  const most = Math.max(...values, 0);
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const points = values.map((value, index) => {
    const y = most > 0 ? height - 2 - (value / most) * (height - 4) : height - 2;
    return `${(index * step).toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`0,${height} ${points.join(' ')} ${width},${height}`} />
      <polyline points={points.join(' ')} />
    </svg>
  );
}
