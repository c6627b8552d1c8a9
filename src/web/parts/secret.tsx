import { CopyButton } from './copy.tsx';

/** A secret that is shown once. */
export function Secret({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <div class="stack">
      <p>It is shown only now: copy it to where it is used.</p>
      <div class="secret">
        <code>{secret}</code>
        <CopyButton label="Copy" text={() => secret} />
      </div>
      <footer>
        <button type="button" class="main-button" onClick={onDone}>
          Done
        </button>
      </footer>
    </div>
  );
}
