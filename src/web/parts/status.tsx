const marks: Readonly<Record<string, [mark: string, tone: string]>> = {
  completed: ['●', 'ok'],
  running: ['◐', 'running'],
  incomplete: ['◗', 'warn'],
  canceled: ['○', 'quiet'],
  interrupted: ['◌', 'warn'],
  failed: ['✕', 'bad'],
  rejected: ['⊘', 'bad'],
};

/** The status of a call as a mark and a word. */
export function Status({ status, code }: { status: string; code?: string | null }) {
  const [mark, tone] = marks[status] ?? ['·', 'quiet'];
  return (
    <span class={`status ${tone}`}>
      <span class="status-mark" aria-hidden="true">
        {mark}
      </span>{' '}
      {code ?? status}
    </span>
  );
}
