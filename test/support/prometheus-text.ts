/** One line of metrics, read strictly. */
export interface MetricLine {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface MetricFamily {
  type: string;
  help: string;
  lines: MetricLine[];
}

const nameForm = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const valueForm = /^(?:[+-]?Inf|NaN|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)$/;

/**
 * Reads the text format of Prometheus, version 0.0.4, and throws for anything it does not allow: an invalid name, a
 * line before its TYPE, a family or a series twice, a histogram whose buckets fall or do not end with its count.
 */
export function readExposition(text: string): Map<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families = new Map<string, MetricFamily>();
  const seen = new Set<string>();
  let current: string | undefined;
  for (const line of text.split('\n').filter((it) => it !== '')) {
    if (line.startsWith('#')) {
      const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
      if (!keyword || !nameForm.test(name)) throw new Error(`no comment: ${line}`);
      const family = families.get(name) ?? { type: '', help: '', lines: [] };
      if (keyword === 'HELP' ? family.help : family.type) throw new Error(`twice: ${line}`);
      if (keyword === 'HELP') family.help = rest;
      else if (/^(counter|gauge|histogram|summary|untyped)$/.test(rest)) family.type = rest;
      else throw new Error(`no type: ${line}`);
      families.set(name, family);
      current = name;
      continue;
    }
    const read = readLine(line);
    const family = families.get(current ?? '');
    if (!family?.type || !belongs(read.name, current ?? '', family.type)) {
      throw new Error(`outside of its family: ${line}`);
    }
    const series = `${read.name} ${JSON.stringify(Object.entries(read.labels).sort())}`;
    if (seen.has(series)) throw new Error(`twice: ${line}`);
    seen.add(series);
    if (family.type === 'counter' && !(read.value >= 0)) throw new Error(`a counter below zero: ${line}`);
    family.lines.push(read);
  }
  for (const [name, family] of families) if (family.type === 'histogram') checkHistogram(name, family);
  return families;
}

function belongs(name: string, family: string, type: string): boolean {
  if (type === 'histogram') return ['_bucket', '_sum', '_count'].some((end) => name === family + end);
  if (type === 'summary') return ['', '_sum', '_count'].some((end) => name === family + end);
  return name === family;
}

function readLine(line: string): MetricLine {
  const [, name = '', inner, value = ''] = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/s.exec(line) ?? [];
  if (!nameForm.test(name) || !valueForm.test(value)) throw new Error(`no line: ${line}`);
  const labels: Record<string, string> = {};
  let rest = inner ?? '';
  while (rest !== '') {
    const [whole, label = '', text = ''] =
      /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/.exec(rest) ?? [];
    if (whole === undefined || label in labels) throw new Error(`no labels: ${line}`);
    labels[label] = text;
    rest = rest.slice(whole.length);
  }
  const number = /Inf$/.test(value) ? (value.startsWith('-') ? -Infinity : Infinity) : Number(value);
  return { name, labels, value: number };
}

function checkHistogram(name: string, { lines }: MetricFamily): void {
  const groups = new Map<string, { buckets: [le: number, count: number][]; count?: number; sum?: number }>();
  for (const { name: own, labels, value } of lines) {
    const { le, ...others } = labels;
    const key = JSON.stringify(Object.entries(others).sort());
    const group = groups.get(key) ?? { buckets: [] };
    groups.set(key, group);
    if (own.endsWith('_bucket')) group.buckets.push([le === '+Inf' ? Infinity : Number(le), value]);
    else if (own.endsWith('_count')) group.count = value;
    else group.sum = value;
  }
  for (const [key, { buckets, count, sum }] of groups) {
    const isRising = buckets.every(([le, value], place) => {
      const before = buckets[place - 1];
      return before === undefined || (before[0] < le && before[1] <= value);
    });
    const last = buckets.at(-1);
    if (!isRising || last?.[0] !== Infinity || last[1] !== count || sum === undefined) {
      throw new Error(`${name} ${key} is no histogram`);
    }
  }
}
