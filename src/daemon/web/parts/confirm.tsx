import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';

interface ConfirmProps {
  title: string;
  /** What the button does: `Revoke`. */
  action: string;
  /** What will happen. */
  children: ComponentChildren;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, action, children, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form fields={[]} action={action} isDangerous onSubmit={onConfirm} onCancel={onClose}>
        {children}
      </Form>
    </Dialog>
  );
}
