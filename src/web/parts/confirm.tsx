import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';
import { DialogButton, type DialogButtonProps } from './dialog-button.tsx';
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

interface ConfirmButtonProps
  extends Pick<DialogButtonProps, 'label' | 'title'>,
    Pick<ConfirmProps, 'children' | 'onConfirm'> {
  question: string;
  /** What the button of the dialog does, if it is not the label. */
  action?: string;
}

/** A button that asks before it does something that cannot be undone. */
export function ConfirmButton({ label, title, question, action, children, onConfirm }: ConfirmButtonProps) {
  return (
    <DialogButton
      label={label}
      title={title}
      dialog={(close) => (
        <Confirm
          title={question}
          action={action ?? label}
          onClose={close}
          onConfirm={async () => {
            await onConfirm();
            close();
          }}
        >
          {children}
        </Confirm>
      )}
    />
  );
}
