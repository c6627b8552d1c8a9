import { isMap, isPair, isScalar, type Pair, parseDocument, type Scalar, visit } from 'yaml';
import { isHarmlessHeader } from '../../shared/masking/mask-headers.ts';
import { maskText, maskUrl, removedText } from '../../shared/masking/mask-text.ts';

/** The text of a configuration file without its secrets: values of headers, credentials in addresses, and what looks like a key. */
export function maskedConfigText(text: string): string {
  const document = parseDocument(text, { uniqueKeys: false });
  const replaced: { from: number; to: number; by: string }[] = [];
  const replace = ({ range }: Scalar, by: string) => {
    if (range) replaced.push({ from: range[0], to: range[1], by });
  };
  visit(document, {
    Pair(_, pair) {
      if (keyOf(pair) !== 'headers' || !isMap(pair.value)) return;
      for (const header of pair.value.items)
        if (isScalar(header.value) && !isHarmlessHeader(keyOf(header))) replace(header.value, removedText);
      return visit.SKIP;
    },
    Scalar(_, node) {
      if (typeof node.value !== 'string' || !isAddress.test(node.value)) return;
      const masked = maskUrl(node.value);
      if (masked !== node.value) replace(node, masked);
    },
  });
  let [result, at] = ['', 0];
  for (const { from, to, by } of replaced.toSorted((one, other) => one.from - other.from)) {
    result += text.slice(at, from) + by;
    at = to;
  }
  return maskText(result + text.slice(at));
}

const isAddress = /^[a-z][a-z\d+.-]{0,31}:\/\//i;

function keyOf(pair: Pair<unknown, unknown> | unknown): string {
  return isPair(pair) && isScalar(pair.key) ? String(pair.key.value) : '';
}
