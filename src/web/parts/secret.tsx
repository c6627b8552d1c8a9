import { useSignal } from '@preact/signals';
import { CopyButton } from './copy.tsx';
import { Dialog } from './dialog.tsx';

interface SecretDialogProps {
  title: string;
  secret: string;
  onClose: () => void;
}

/** A window with a secret that is shown once. Escape, the close button and a click beside it ask first. */
export function SecretDialog({ title, secret, onClose }: SecretDialogProps) {
  const isAsking = useSignal(false);
  const ask = () => {
    isAsking.value = true;
  };
  return (
    <Dialog title={title} onClose={ask} staysOpen>
      <Secret secret={secret} onDone={onClose} />
      {isAsking.value && (
        <p class="notice" role="alert">
          The secret cannot be shown again. Press Done once you have copied it.
        </p>
      )}
    </Dialog>
  );
}

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
