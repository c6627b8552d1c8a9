import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type CallContent, type ReadText, readText } from '../../data/call-text.ts';

/** Texts are read in pieces of 256 KiB; up to this length without a question. */
const readCharactersMax = 2 * 1024 * 1024;

interface Reading {
  content: CallContent | undefined;
  text: ReadText | undefined;
  error: unknown;
  isLoading: boolean;
  /** Reads the rest of a long text. */
  readAll: () => void;
}

/** The request or answer of a call, with its body, piece by piece. */
export function useCallText(id: string, part: 'request' | 'answer'): Reading {
  const content = useSignal<CallContent | undefined>(undefined);
  const text = useSignal<ReadText | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const isLoading = useSignal(true);
  const max = useSignal(readCharactersMax);
  const wanted = max.value;
  useEffect(() => {
    const abort = new AbortController();
    const read = async () => {
      isLoading.value = true;
      const onPage = (first: CallContent, known: ReadText | undefined) => {
        content.value ??= first;
        if (known) text.value = known;
      };
      await readText(id, part, { signal: abort.signal, max: wanted, onPage });
      isLoading.value = false;
    };
    read().catch((failure) => {
      if (abort.signal.aborted) return;
      error.value = failure;
      isLoading.value = false;
    });
    return () => abort.abort();
  }, [id, part, wanted, content, text, error, isLoading]);
  return {
    content: content.value,
    text: text.value,
    error: error.value,
    isLoading: isLoading.value,
    readAll: () => {
      max.value = Number.POSITIVE_INFINITY;
    },
  };
}
