/**
 * MongoDB operators in place of values are refused by name in every field of every JSON body and form. In paths and
 * queries they are plain text. The tests are generated from the contracts of all routes, so they cover new routes. The
 * fields of JSON bodies are checked in process, by the function with which the API checks them, and one field of each
 * route over HTTP.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { system, type TestOrg } from '../kit/harness.ts';
import { check } from '../../api/http/faults.ts';
import type { Route } from '../../api/http/route.ts';
import { routeGroups } from '../../api/routes.ts';

const api = system();
/** All routes but the signed ones, which parse no unsigned request. test/base/route.test.ts covers signed routes. */
const routes: readonly Route[] = Object.values(routeGroups)
  .flat()
  .filter(({ auth }) => auth.kind !== 'signature');
const label = (route: Route) => `${route.method} ${route.path}`;
const operators: unknown[] = [{ $ne: null }, { $gt: '' }, { $regex: '.*' }, { $where: 'true' }, [{ $in: ['a'] }]];
const asText = '{"$ne":null}';

type Path = (string | number)[];
type Field = { path: Path; schema: z.core.$ZodType };

/**
 * Every place of a schema where a caller can put a value: nested objects, array elements, record values and union
 * branches.
 */
function fieldsOf(schema: z.core.$ZodType, path: Path = []): Field[] {
  const here = path.length === 0 ? [] : [{ path, schema }];
  if (schema instanceof z.ZodObject) {
    const inside = Object.entries(schema.shape);
    return [...here, ...inside.flatMap(([name, field]) => fieldsOf(field, [...path, name]))];
  }
  if (schema instanceof z.ZodArray) return [...here, ...fieldsOf(schema.element, [...path, 0])];
  if (schema instanceof z.ZodRecord) return [...here, ...fieldsOf(schema.valueType, [...path, 'anything'])];
  if (schema instanceof z.ZodUnion) return [...here, ...schema.options.flatMap((option) => fieldsOf(option, path))];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return fieldsOf(schema.unwrap(), path);
  return here;
}

/** The smallest body that has the value at the path. */
function bodyWith(path: Path, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), value);
}

const texts = [
  'text',
  'ada@example.com',
  'https://example.com',
  '2099-01-01T00:00:00Z',
  'long enough to be a password',
  'smtp://mail.example.com:25',
  'owner/name',
];

/** A minimal value that the schema accepts, so that a request fails only because of what the test adds. */
function sample(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape);
    const required = fields.filter(([, field]) => !field.safeParse(undefined).success);
    return Object.fromEntries(required.map(([name, field]) => [name, sample(field)]));
  }
  if (schema instanceof z.ZodArray) return z.safeParse(schema, []).success ? [] : [sample(schema.element)];
  const found = [...(schema instanceof z.ZodEnum ? schema.options : []), ...texts, 1, 100, true, {}, null].find(
    (value) => z.safeParse(schema, value).success,
  );
  if (found === undefined) throw new Error('Teach `sample` a value for this kind of schema.');
  return found;
}

const inBodies = routes.flatMap((route) =>
  route.body && !route.upload
    ? fieldsOf(route.body).map((field) => [label(route), field.path.join('.'), route, field] as const)
    : [],
);
/** The first and the deepest field of each body. */
const sentInBodies = [...Map.groupBy(inBodies, ([, , route]) => route).values()].flatMap((fields) => {
  const deepest = fields.reduce((one, other) => (other[3].path.length > one[3].path.length ? other : one));
  return [...new Set([fields[0]!, deepest])];
});
const inQueries = routes.flatMap((route) =>
  Object.keys(route.query?.shape ?? {}).map((name) => [label(route), name, route] as const),
);
/**
 * Routes with the token of a mailed link in their path. The token is signed text and not an id, so these tests omit it.
 * One route passes the token on to a page, and the other reads a form first.
 */
const withSignedTokens = ['seeMailObjection', 'stopMails'];
const inPaths = routes
  .filter(({ name }) => !withSignedTokens.includes(name))
  .flatMap((route) => Object.keys(route.params?.shape ?? {}).map((name) => [label(route), name, route] as const));
const inForms = routes.flatMap((route) =>
  route.upload && route.body instanceof z.ZodObject
    ? Object.keys(route.body.shape).map((name) => [label(route), name, route] as const)
    : [],
);

let org: TestOrg;
let key: string;
let session: string;
beforeAll(async () => {
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
  session = (await api.newSession(org, { key })).token;
});

/**
 * The path of the route with one parameter replaced. The other parameters name existing records. Where the route could
 * delete the record, they name a missing one.
 */
const pathOf = (route: Route, replaced: Record<string, string> = {}) =>
  route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(replaced[name] ?? (name === 'orgId' ? org.orgId : name === 'mode' ? 'test' : 'nothing')),
  );
const tokenOf = (route: Route) => {
  const tokens = {
    open: undefined,
    key,
    self: key,
    session,
    jwt: org.owner.token,
    member: org.owner.token,
    signature: undefined,
  };
  return tokens[route.auth.kind];
};

describe('the contracts', () => {
  it('these tests cover fields of bodies, forms, queries and paths in the API’s contracts', () => {
    expect(inBodies.length).toBeGreaterThan(25);
    expect(inBodies.some(([, field]) => field === 'context.productType')).toBe(true);
    expect(inBodies.some(([, field]) => field === 'conversation_history.0.body')).toBe(true);
    expect(inQueries.length).toBeGreaterThan(20);
    expect(inPaths.length).toBeGreaterThan(20);
    expect(inForms.length).toBeGreaterThan(1);
  });
});

/** The operators that a field refuses. A field that accepts any object refuses none; such fields have their own tests. */
const refusedBy = (schema: z.core.$ZodType) => operators.filter((operator) => !z.safeParse(schema, operator).success);

/** The details of a refusal that name the field at the path. */
const naming = (path: Path, details: readonly { path: Path }[]) =>
  details.filter((detail) => `${detail.path.join('.')}.`.startsWith(`body.${path.join('.')}.`));

describe('a MongoDB operator in a body', () => {
  it.each(inBodies)(
    'the check of JSON bodies refuses a MongoDB operator in a body of %s, and names the field: %s',
    (_, __, route, { path, schema }) => {
      const refused = refusedBy(schema);
      expect(refused).not.toEqual([]);
      for (const operator of refused) {
        const checked = check(route.body!, bodyWith(path, operator), 'body');
        const named = 'faults' in checked ? naming(path, checked.faults.details) : [];
        expect([operator, named]).not.toEqual([operator, []]);
      }
    },
  );

  it.each(sentInBodies)(
    'the API refuses a MongoDB operator in a JSON body of %s, and names the field: %s',
    async (_, __, route, { path, schema }) => {
      const body = bodyWith(path, refusedBy(schema)[0]);
      const reply = await api.request(route.method, pathOf(route), { token: tokenOf(route), body });
      expect(reply.status).toBe(400);
      expect(naming(path, reply.body.details)).not.toEqual([]);
    },
  );
});

/** A form with a file and the given field. */
function formOf(text: string, [field, value]: [string?, string?] = []): FormData {
  const form = new FormData();
  if (field !== undefined) form.append(field, value ?? '');
  form.append('file', new Blob([text]), 'note.md');
  return form;
}

describe('a MongoDB operator in a form', () => {
  const send = (route: Route, field: string, value: string) => {
    const form = formOf(`A text for ${field}.`, [field, value]);
    return api.request(route.method, pathOf(route), { token: tokenOf(route), form });
  };

  it.each(inForms)(
    'a form of %s with a MongoDB operator is refused, and its field %s takes text only',
    async (_, name, route) => {
      for (const field of [`${name}[$ne]`, `${name}.$ne`, `$where`]) {
        const { status, body } = await send(route, field, 'x');
        expect([status, body.details[0].path]).toEqual([400, ['body', field]]);
      }
      const { status, body } = await send(route, name, asText);
      expect([200, 201, 400]).toContain(status);
      if (status === 400) expect(body.details[0].path[1]).toBe(name);
      else expect(JSON.stringify(body)).not.toContain('$ne');
    },
  );
});

describe('a MongoDB operator in a query', () => {
  it.each(inQueries)(
    'the route %s takes the query parameter %s as text or refuses it, and refuses MongoDB operators as unknown parameters',
    async (_, name, route) => {
      const ask = async (query: string) => {
        const token = tokenOf(route);
        const body = route.body && !route.upload ? {} : undefined;
        return (await api.request(route.method, `${pathOf(route)}?${query}`, { token, body })).status;
      };
      expect([name, await ask(`${name}=${encodeURIComponent(asText)}`)]).toEqual([name, await ask(`${name}=nonsense`)]);
      // Some routes are called by other services, which add parameters of their own. These routes ignore unknown
      // parameters.
      const other = route.otherParameters === 'ignored' ? await ask('') : 400;
      expect([name, await ask(`${name}[$ne]=nonsense`)]).toEqual([name, other]);
      expect([name, await ask(`${name}[]=nonsense&${name}.$gt=`)]).toEqual([name, other]);
      expect([name, await ask(`${name}=nonsense&${name}=nonsense`)]).toEqual([name, 400]);
    },
  );
});

describe('a MongoDB operator in a path', () => {
  it.each(inPaths)(
    'a MongoDB operator in the path of %s as {%s} is treated as an unknown id (404) or an invalid one (400)',
    async (_, name, route) => {
      for (const id of [asText, '[$ne]', 'nothing']) {
        const token = tokenOf(route);
        // A request with another organization's id is refused before its file has arrived, so it is sent without a
        // file.
        const form = route.upload && name !== 'orgId' ? { form: formOf(`An upload to ${id}.`) } : {};
        const sent = { token, ...(route.upload ? form : { body: route.body && sample(route.body) }) };
        const { status } = await api.request(route.method, pathOf(route, { [name]: id }), sent);
        const isId = z.safeParse(route.params!.shape[name], id).success;
        expect([id, status]).toEqual([id, isId ? 404 : 400]);
      }
    },
  );
});
