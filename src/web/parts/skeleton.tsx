/** Stands for rows that are on their way; it appears only if that takes a moment. */
export function Skeleton({ rows = 8 }: { rows?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all the same.
        <div key={at} />
      ))}
    </div>
  );
}
