import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from '../../../models/rules/mcp/canonical.ts';
import { differences, discovered, pinText } from '../../../models/rules/mcp/discovery.ts';
import { suggestedName, titleOf, type ApprovedTool, type ListedTool } from '../../../models/rules/mcp/tool.ts';

const pinOf = (tool: ListedTool) => createHash('sha256').update(pinText(tool)).digest('hex');
const refund: ListedTool = {
  name: 'refund',
  description: 'Refunds an order.',
  input_schema: {
    type: 'object',
    properties: { order: { type: 'string' }, amount: { type: 'number', maximum: 50 } },
    required: ['order'],
  },
};
const approve = (listed: ListedTool, tool_name = listed.name): ApprovedTool => ({
  source_name: listed.name,
  tool_name,
  description: listed.description,
  input_schema: listed.input_schema,
  ...(listed.output_schema ? { output_schema: listed.output_schema } : {}),
  kind: 'action',
  risk_tier: 'admin_approve',
  auth_scope: 'verified_customer',
  enabled: true,
  timeout_ms: 1_000,
  allowed_channels: ['chat'],
  pin: pinOf(listed),
});

describe('canonicalJson', () => {
  it.each([
    [{ b: 1, a: [1, { d: null, c: 'ü"' }] }, '{"a":[1,{"c":"ü\\"","d":null}],"b":1}'],
    [{ a: undefined, b: [undefined] }, '{"b":[null]}'],
    ['x', '"x"'],
    [undefined, 'null'],
    [{ é: 1, z: 2, A: 3 }, '{"A":3,"z":2,"é":1}'],
  ])('canonical JSON of %j is %s', (value, text) => expect(canonicalJson(value)).toBe(text));
});

describe('the pin (hash) of a tool', () => {
  const changes: [string, Partial<ListedTool>][] = [
    ['its name', { name: 'refund_all' }],
    ['its description', { description: 'Refunds an order. ' }],
    ['a bound of an argument', { input_schema: { ...refund.input_schema, properties: { order: { type: 'string' } } } }],
    ['an output schema', { output_schema: { type: 'object' } }],
  ];
  it.each(changes)('the pin (hash) of a tool’s definition changes when %s changes', (_what, change) => {
    expect(pinOf({ ...refund, ...change })).not.toBe(pinOf(refund));
  });

  it('the pin (hash) of a tool’s definition does not depend on the order of object members', () => {
    const { type, properties, required } = refund.input_schema as Record<string, unknown>;
    expect(pinOf({ ...refund, input_schema: { required, properties, type } })).toBe(pinOf(refund));
  });
});

describe('differences', () => {
  it('differences() lists each changed field with its old and new value', () => {
    const now: ListedTool = {
      ...refund,
      description: 'Refunds anything.',
      input_schema: {
        type: 'object',
        properties: { order: { type: 'string' }, amount: { type: 'number', maximum: 5000 }, to: { type: 'string' } },
      },
      output_schema: { type: 'object' },
    };
    expect(differences(refund, now)).toEqual([
      { field: 'description', change: 'changed', before: 'Refunds an order.', after: 'Refunds anything.' },
      { field: 'input_schema.properties.amount.maximum', change: 'changed', before: 50, after: 5000 },
      { field: 'input_schema.properties.to', change: 'added', after: { type: 'string' } },
      { field: 'input_schema.required', change: 'removed', before: ['order'] },
      { field: 'output_schema', change: 'added', after: { type: 'object' } },
    ]);
  });

  it('differences() does not report unchanged fields', () =>
    expect(differences(refund, structuredClone(refund))).toEqual([]));
});

describe('discovered', () => {
  const other: ListedTool = { name: 'lookUp', description: 'Looks up.', input_schema: { type: 'object' } };
  const statuses = (approved: ApprovedTool[], listed: ListedTool[]) =>
    discovered(approved, listed, pinOf).map(({ source_name, status, changed_since_approval }) => [
      source_name,
      status,
      changed_since_approval,
    ]);

  it.each<[string, ApprovedTool[], ListedTool[], unknown[]]>([
    ['an unchanged tool', [approve(refund)], [refund], [['refund', 'approved', false]]],
    ['a new one', [], [refund], [['refund', 'new', false]]],
    ['a removed one', [approve(refund)], [], [['refund', 'removed', true]]],
    ['a changed one', [approve(refund)], [{ ...refund, description: 'Anything' }], [['refund', 'changed', true]]],
    [
      'two that have swapped what they do',
      [approve(refund), approve(other)],
      [
        { ...other, name: 'refund' },
        { ...refund, name: 'lookUp' },
      ],
      [
        ['refund', 'changed', true],
        ['lookUp', 'changed', true],
      ],
    ],
    [
      'one that was renamed: another tool, and the first is gone',
      [approve(refund)],
      [{ ...refund, name: 'refund2' }],
      [
        ['refund2', 'new', false],
        ['refund', 'removed', true],
      ],
    ],
  ])(
    'the discovery of tools reports each tool as approved, new, removed or changed: %s',
    (_what, approved, listed, expected) => expect(statuses(approved, listed)).toEqual(expected),
  );

  it('only a changed tool has a diff, and a changed tool keeps its approved name', () => {
    const [changed] = discovered([approve(refund, 'pay_back')], [{ ...refund, description: 'x' }], pinOf);
    expect(changed).toMatchObject({ suggested_tool_name: 'pay_back', diff: [{ field: 'description' }] });
    expect(discovered([approve(refund)], [refund], pinOf)[0]).not.toHaveProperty('diff');
  });
});

describe('the names of a tool', () => {
  it.each([
    ['getStructuredContent', [], 'get_structured_content'],
    ['get-sum', ['get_sum'], 'get_sum_2'],
    ['Émile.räum 7', [], 'e_mile_ra_um_7'],
    ['123', [], 'tool'],
    ['x'.repeat(200), [], 'x'.repeat(60)],
  ])('the suggested name of the tool %s, when the names %j are taken, is %s', (source, taken, name) =>
    expect(suggestedName(source, new Set(taken))).toBe(name),
  );
  it.each([
    ['cancel_order', 'Cancel order'],
    ['getWeather-now', 'Get weather now'],
  ])('the tool %s is displayed as %s', (name, title) => expect(titleOf(name)).toBe(title));
});
