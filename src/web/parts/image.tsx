import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { sizeText } from '../../shared/text/size-text.ts';

/** An image of a request or an answer: its size until it is asked for. Those of other hosts are never loaded. */
export function Picture({ url }: { url: string }) {
  const shown = useSignal('');
  useEffect(() => () => URL.revokeObjectURL(shown.value), [shown]);
  const [, type = '', data = ''] = /^data:(image\/[\w.+-]{1,40});base64,(.*)$/s.exec(url) ?? [];
  if (data === '')
    return (
      <p class="block-label">
        image at <code>{url.slice(0, 500)}</code>
      </p>
    );
  if (shown.value) return <img class="picture" src={shown.value} alt="Content of the call" />;
  const show = () => {
    try {
      const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
      shown.value = URL.createObjectURL(new Blob([bytes], { type }));
    } catch {
      shown.value = '';
    }
  };
  return (
    <button type="button" onClick={show}>
      Show the image ({type.slice(6)}, {sizeText(Math.round(data.length * 0.75))})
    </button>
  );
}
