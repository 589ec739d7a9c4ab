/**
 * `npm run operations` writes `web/app/api/operations.ts`: the operations of the API, and the types, that files of the
 * page `/app` import from it. The types are those of the schemas that `api/<slice>/contract/` exports.
 */
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { z } from 'zod';
import type { Route } from '../../api/http/route.ts';
import { routeGroups } from '../../api/routes.ts';
import { slices } from './imports.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const operationsFile = join(root, 'web/app/api/operations.ts');

/** A schema that a contract exports, and the expression of its type in `operationsFile`: `typeof hours.hoursReply`. */
type Exported = { schema: z.ZodType; type: string };

const filesLike = (pattern: string): string[] => globSync(pattern, { cwd: root }).sort();

/** The names that files of the page import from `operationsFile`. */
async function importedNames(): Promise<Set<string>> {
  const files = filesLike('web/app/**/*.{ts,tsx}');
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
  const lists = texts.flatMap((text) => [
    ...text.matchAll(/^import (?:type )?\{([^}]*)\} from '[./]*api\/operations\.ts'/gm),
  ]);
  const names = lists.flatMap(([, list]) => [...list!.matchAll(/(?:type )?(\w+)(?: as \w+)?/g)]);
  return new Set(names.map(([, name]) => name!));
}

const membersOf = (schema: z.ZodType | undefined): [name: string, member: unknown][] =>
  schema instanceof z.ZodObject ? Object.entries(schema.shape) : [];

function operationOf(route: Route, exported: readonly Exported[]): string {
  const byKey = route.auth.kind === 'key';
  // `route()` makes new schemas of the query, and of the reply to a key. It adds these members and keeps the others.
  const added = byKey ? ['mode', 'environment', 'warning'] : [];
  const ownMembers = (schema: z.ZodType) => new Map(membersOf(schema).filter(([name]) => !added.includes(name)));
  const typeOf = (schema: z.ZodType): string => {
    const own = ownMembers(schema);
    const isLike = (other: z.ZodType): boolean => {
      const others = ownMembers(other);
      return (
        own.size > 0 && others.size === own.size && [...own].every(([name, member]) => others.get(name) === member)
      );
    };
    const found = exported.find((one) => one.schema === schema) ?? exported.find((one) => isLike(one.schema));
    if (!found) throw new Error(`${route.name} has a schema that no contract exports.`);
    return found.type;
  };
  const params = membersOf(route.params).map(([name]) => `'${name}'`);
  const query = ownMembers(route.query).size > 0 ? typeOf(route.query) : 'None';
  const body = route.upload ? 'FormData' : route.raw ? 'Blob' : route.body ? typeOf(route.body) : 'None';
  const types = [params.join(' | ') || 'never', query, body, typeOf(route.reply)].join(', ');
  const value = [route.method, route.path, ...(route.envelope ? [true] : [])].map((one) => JSON.stringify(one));
  return `export const ${route.name}: ${byKey ? 'InMode' : 'OperationOf'}<${types}> = [${value.join(', ')}];`;
}

/** The text of `operationsFile`. */
export async function operations(): Promise<string> {
  const exported: Exported[] = [];
  const imports = new Map<string, string>();
  // A contract may export schemas of lower slices again, so the lowest slice comes first.
  for (const slice of slices)
    for (const file of filesLike(`api/${slice}/contract/*.ts`)) {
      const module = basename(file, '.ts');
      imports.set(module, `import type * as ${module} from '../../../${file}';`);
      for (const [name, schema] of Object.entries((await import(join(root, file))) as Record<string, unknown>))
        if (schema instanceof z.ZodType) exported.push({ schema, type: `typeof ${module}.${name}` });
    }
  const routes: Route[] = Object.values(routeGroups).flat();
  const exports = [...(await importedNames())].sort().map((name) => {
    const route = routes.find((one) => one.name === name);
    if (route) {
      const { auth } = route;
      const ofPage = ['open', 'jwt', 'member'].includes(auth.kind) || (auth.kind === 'key' && !auth.keyOnly);
      if (!ofPage) throw new Error(`The page may not call ${name}.`);
      return operationOf(route, exported);
    }
    const named = exported.find(({ schema }) => z.globalRegistry.get(schema)?.id === name);
    if (named) return `export type ${name} = z.output<${named.type}>;`;
    throw new Error(`The page imports ${name}, which is no operation, and no schema that a contract exports.`);
  });
  const text = [
    '/** Written by `npm run operations`; not edited by hand. */',
    "import type { z } from 'zod';",
    ...[...imports].flatMap(([module, line]) =>
      exports.some((one) => one.includes(`typeof ${module}.`)) ? [line] : [],
    ),
    "import type { InMode, None, OperationOf } from './call.ts';\n",
    ...exports,
  ].join('\n');
  return format(text, { ...(await resolveConfig(operationsFile)), parser: 'typescript' });
}

if (import.meta.main) await writeFile(operationsFile, await operations());
