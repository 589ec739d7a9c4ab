/** The versions of JSON Schema that `$schema` may name, with a validator factory for each. */
import { Ajv, type Options } from 'ajv/dist/ajv.js';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import Draft04 from 'ajv-draft-04';
import type { JsonSchema } from '../../models/rules/mcp/tool.ts';

type Reader = Ajv | Ajv2019 | Ajv2020;
/**
 * `make`: creates a validator for schemas of this version. The validator knows the version's meta-schema, which
 * validates schemas themselves, unless `options.meta` is false.
 */
export type Dialect = { name: string; make: (options: Options) => Reader };

const draft = (name: string, make: Dialect['make']): [string, Dialect] => [
  `//json-schema.org/${name}/schema`,
  { name, make },
];
const latest: Dialect = { name: '2020-12', make: (options) => new Ajv2020(options) };
const dialects = new Map<string, Dialect>([
  // The cast is needed because the types of ajv-draft-04 declare the wrong module format.
  draft('draft-04', (options) => new (Draft04 as unknown as typeof Ajv)(options)),
  draft('draft-06', (options) => new Ajv({ meta: draft06, ...options })),
  draft('draft-07', (options) => new Ajv(options)),
  ['//json-schema.org/draft/2019-09/schema', { name: '2019-09', make: (options) => new Ajv2019(options) }],
  ['//json-schema.org/draft/2020-12/schema', latest],
  ['//json-schema.org/schema', latest],
]);

export const dialectNames = 'draft-04, -06, -07, 2019-09 and 2020-12';

/**
 * Returns the version that a schema names in `$schema`. Returns 2020-12 when the schema names none, as the MCP
 * specification says, and undefined when the named version is unknown.
 */
export function dialectOf({ $schema: named }: JsonSchema): Dialect | undefined {
  if (named === undefined) return latest;
  return typeof named === 'string' ? dialects.get(named.replace(/^https?:/, '').replace(/#$/, '')) : undefined;
}
