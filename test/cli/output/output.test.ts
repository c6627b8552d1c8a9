import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  escapeCell,
  escapeControls,
  escapeJson,
  tabSeparatedCell,
} from '../../../src/cli/output/escape-controls.ts';
import { jsonText } from '../../../src/cli/output/output.ts';
import { painter } from '../../../src/cli/output/style.ts';
import {
  alignedRecord,
  alignedTable,
  type Column,
  csvTable,
  tabSeparatedRecord,
  tabSeparatedRows,
} from '../../../src/cli/output/table.ts';
import { cutToWidth, widthOf, wrapToWidth } from '../../../src/cli/output/width.ts';
import { duration } from '../../../src/view/durations.ts';

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom('\u001b', '\u009b', '\u202e', '\n', '字', '🎉'), fc.string()),
});
const obeyed = /[\p{Cc}\p{Bidi_Control}]/u;

describe("text of others' making", () => {
  test('contains no control characters', () => {
    expect(escapeControls('a\u001b[31mb\r\nc\u0007\u009b\u202e\td')).toBe('a␛[31mb\nc␇<U+009B><U+202E>\td');
    fc.assert(fc.property(anyText, (text) => !obeyed.test(escapeControls(text).replace(/[\n\t]/g, ''))));
  });

  test('in a table cell never breaks its row', () => {
    fc.assert(fc.property(anyText, (text) => !obeyed.test(escapeCell(text))));
    expect(tabSeparatedCell('a\tb\nc')).toBe('a\\tb\\nc');
  });

  test('in JSON is the same value', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = escapeJson(JSON.stringify({ text }, null, 2));
        expect(json.replaceAll('\n', '')).not.toMatch(obeyed);
        expect(JSON.parse(json)).toEqual({ text });
      }),
    );
    expect(jsonText({ a: [1] }, { indented: false })).toBe('{"a":[1]}\n');
  });
});

describe('a table', () => {
  test('as CSV has a header, quotes what needs it and lets no text become a formula', () => {
    const cells: Column<(string | number | null)[]>[] = [
      { title: 'name', value: ([name]) => name },
      { title: 'cost_usd', value: ([, cost]) => cost },
    ];
    const rows = [
      ['plain', '0.000042'],
      ['with "quotes", a comma\nand a line', null],
      ['=HYPERLINK("http://site.example")', -3],
      ['@cmd', '-0.5'],
      ['＝1＋1', 0],
    ];
    expect(csvTable(rows, cells)).toBe(
      [
        'name,cost_usd',
        'plain,0.000042',
        '"with ""quotes"", a comma\nand a line",',
        `"'=HYPERLINK(""http://site.example"")",-3`,
        "'@cmd,-0.5",
        "'＝1＋1,0",
        '',
      ].join('\r\n'),
    );
  });

  // te-online/timemanager#168, SwissBitcoinPay/app#199: with a point, such a spreadsheet takes a number for a text or a day.
  test('as CSV with semicolons has decimal commas, in numbers only', () => {
    const cells: Column<(string | number)[]>[] = [
      { title: 'name', value: ([name]) => name },
      { title: 'cost', value: ([, cost]) => cost },
    ];
    const rows = [
      ['gpt-4.1', '0.000042'],
      ['1.2.3', -0.5],
      ['a, b', 3],
      ['10.0.0.1', 1.25],
      ['b', 1.4e-7],
    ];
    expect(csvTable(rows, cells, 'semicolon')).toBe(
      ['name;cost', 'gpt-4.1;0,000042', '1.2.3;-0,5', 'a, b;3', '10.0.0.1;1,25', 'b;1,4e-7', ''].join('\r\n'),
    );
    expect(csvTable(rows, cells, 'tab')).toContain('gpt-4.1\t0.000042\r\n');
  });

  interface Row {
    id: string;
    name: string;
    size: number;
  }
  const columns: Column<Row>[] = [
    { title: 'id', value: (row) => row.id },
    { title: 'name', value: (row) => row.name },
    { title: 'size', value: (row) => row.size, align: 'right', isSpare: true },
  ];
  const rows = [
    { id: 'key_0123456789', name: '日本語', size: 7 },
    { id: 'key_1', name: 'a rather long name that goes on', size: 1200 },
  ];

  test('is aligned, with wide characters counted as two', () => {
    expect(alignedTable(rows.slice(0, 1), columns, { columns: 80, paint: painter(false) })).toBe(
      'ID              NAME    SIZE\nkey_0123456789  日本語     7\n',
    );
  });

  test('hides spare columns, then truncates the widest, but never ids', () => {
    const text = alignedTable(rows, columns, { columns: 30, paint: painter(false) });
    expect(text).not.toContain('SIZE');
    expect(text).toContain('key_0123456789');
    expect(text).toContain('a rather long…');
    for (const line of text.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(30);
  });

  test('hides columns rather than cutting titles', () => {
    const titled: Column<Row>[] = [
      { title: 'id', value: (row) => row.id },
      { title: 'last_used', value: () => '3 minutes ago' },
      { title: 'name', value: () => '' },
    ];
    const table = (width: number) =>
      alignedTable(rows.slice(1), titled, { columns: width, paint: painter(false) });
    expect(table(22)).toBe('ID     LAST USED  NAME\nkey_1  3 minute…\n');
    expect(table(16)).toBe('ID     LAST USED\nkey_1  3 minute…\n');
  });

  test('hides columns rather than wrapping rows or cutting numbers', () => {
    const narrow: Column<Row>[] = [
      { title: 'id', value: (row) => row.id },
      { title: 'size', value: (row) => row.size * 1_000_000_000, align: 'right' },
      { title: 'name', value: (row) => row.name },
    ];
    const lines = (width: number) =>
      alignedTable(rows, narrow, { columns: width, paint: painter(false) })
        .trimEnd()
        .split('\n');
    expect(lines(31)).toEqual([
      'ID                       SIZE',
      'key_0123456789     7000000000',
      'key_1           1200000000000',
    ]);
    expect(lines(20)).toEqual(['ID', 'key_0123456789', 'key_1']);
  });

  test('is tab-separated in a pipe', () => {
    const [first] = rows as [Row, Row];
    expect(tabSeparatedRows([{ ...first, name: 'a\tb' }], columns)).toBe('key_0123456789\ta\\tb\t7\n');
  });
});

describe('a record', () => {
  const columns: Column<{ note: string; took: number }>[] = [
    { title: 'note', value: (row) => row.note },
    { title: 'total_ms', value: (row) => row.took, show: (row) => duration(row.took) },
  ];
  const row = { note: 'a sentence that is longer than the terminal is wide', took: 3240 };

  test('wraps with an indent, and omits units from labels', () => {
    expect(alignedRecord(row, columns, { columns: 30, paint: painter(false) })).toBe(
      'note   a sentence that is\n       longer than the\n       terminal is wide\ntotal  3.24 s\n',
    );
  });

  test('has units in its names in a pipe', () => {
    expect(tabSeparatedRecord(row, columns)).toContain('total_ms\t3240\n');
  });
});

test('wrapping keeps all words, and exceeds the width only for longer words', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(' ', 'a', '字') }), fc.nat(20), (text, width) => {
      const lines = wrapToWidth(text, width);
      expect(lines.join(' ')).toBe(text);
      for (const line of lines) if (line.includes(' ')) expect(widthOf(line)).toBeLessThanOrEqual(width);
    }),
  );
});

test('a truncated text fits its width', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 20 }), (text, width) => {
      expect(widthOf(cutToWidth(text, width))).toBeLessThanOrEqual(width);
    }),
  );
});
