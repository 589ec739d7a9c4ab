/**
 * What we exchange with other services, checked against foreign implementations: Linear's schema, another signer of S3
 * requests, and another verifier of SNS messages.
 */
import { afterAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer as createTlsServer, globalAgent } from 'node:https';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getVariableValues, type OperationDefinitionNode, parse, validate, validateSchema } from 'graphql';
import { sign } from 'aws4';
import MessageValidator from 'sns-validator';
import { selfSigned } from '../kit/certificate.ts';
import { linearSchema } from '../kit/linearschema.ts';
import { listening } from '../kit/listening.ts';
import { startTopic } from '../kit/sns.ts';
import { createHttp, type HttpRequest } from '../../clients/http/http.ts';
import { createLinear, documents, type NewIssue } from '../../providers/linear/client.ts';
import { createObjectStore } from '../../clients/s3/s3.ts';
import { createSnsVerifier } from '../../providers/mail/sns.ts';
import type { SnsMessage } from '../../providers/mail/snsmessage.ts';

describe('what is sent to Linear', () => {
  const schema = linearSchema();
  const issue: Required<NewIssue> = {
    id: '11111111-1111-4111-8111-111111111111',
    teamId: 'team',
    title: 'Title',
    description: 'Text',
    priority: 2,
    dueDate: '2026-12-24',
    assigneeId: 'user',
  };
  type Sent = { query: string; variables: Record<string, unknown> };
  /** All requests that the client can send. */
  async function everything(): Promise<Sent[]> {
    const sent: Sent[] = [];
    const request = async (_: string, { body }: HttpRequest = {}) => {
      sent.push(JSON.parse(String(body)) as Sent);
      const nodes = { nodes: [] };
      const made = { issue: {}, comment: {} };
      const issues = { ...nodes, pageInfo: { hasNextPage: false } };
      const data = { team: { states: nodes }, issue: { comments: nodes }, issues };
      const answer = { data: { ...data, issueCreate: made, issueUpdate: made, commentCreate: made } };
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(answer)) };
    };
    const linear = createLinear({ http: { request } as never, url: 'http://127.0.0.1:1' });
    await linear.account('key', 'team');
    await linear.state('key', 'state');
    await linear.states('key', 'team');
    await linear.issue('key', 'issue');
    await linear.findByMark('key', 'mark');
    await linear.comments('key', 'issue');
    await linear.createIssue('key', issue);
    const { title, description, priority } = issue;
    await linear.updateIssue('key', 'issue', { title, description, priority, dueDate: null, stateId: 'state' });
    await linear.comment('key', { id: issue.id, issueId: 'issue', body: 'Text' });
    return sent;
  }

  it('each request to Linear is valid against Linear’s GraphQL schema, with its variables', async () => {
    expect(validateSchema(await schema)).toEqual([]);
    const sent = await everything();
    expect(sent.map(({ query }) => query).toSorted()).toEqual(Object.values(documents).toSorted());
    for (const { query, variables } of sent) {
      const document = parse(query);
      const operation = document.definitions[0] as OperationDefinitionNode;
      const { errors = [] } = getVariableValues(await schema, operation.variableDefinitions ?? [], variables);
      expect([query, ...validate(await schema, document), ...errors]).toEqual([query]);
    }
  });

  it.each([
    ['a field', 'query { issue(id: "1") { headline } }', 'headline'],
    ['an argument', 'query { issue(key: "1") { id } }', 'key'],
    ['a type', 'mutation M($input: IssueInput!) { issueCreate(input: $input) { success } }', 'IssueInput'],
  ])('a GraphQL document with %s that Linear’s schema lacks fails the check', async (_, query, name) => {
    expect(
      validate(await schema, parse(query))
        .map(({ message }) => message)
        .join(),
    ).toContain(name);
  });
});

describe('a request to S3', () => {
  const http = createHttp({ userAgent: 'Test/1.0', egressAllow: ['127.0.0.1'] });
  afterAll(() => http.close());
  const region = 'eu-central-1';
  const right = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCY' };

  /**
   * A store that returns each object's path as its content, for requests that another implementation signs identically.
   */
  async function startStore(credentials: typeof right & { sessionToken?: string }) {
    const server = createServer(({ headers, method = '', url: path = '' }, response) => {
      const signed = { 'X-Amz-Date': String(headers['x-amz-date']) };
      const body = { 'X-Amz-Content-Sha256': String(headers['x-amz-content-sha256']) };
      const request = { method, host: headers.host!, path, service: 's3', region, headers: { ...signed, ...body } };
      const { Authorization } = sign(request, credentials).headers;
      response.writeHead(Authorization === headers.authorization ? 200 : 403).end(path);
    });
    return listening(server);
  }

  it.each<[string, { sessionToken?: string }]>([
    ['', {}],
    [' with the token of a session', { sessionToken: 'FwoGZXIvYXdzEBYaDHqa0AP+/=' }],
  ])(
    'the signature of a request to S3%s equals the one that another implementation computes, whatever the object key',
    async (_, session) => {
      const store = await startStore({ ...right, ...session });
      const settings = { endpoint: store.url, region, sessionToken: undefined, ...right, ...session };
      const keys = [
        'mail',
        'in/a mail',
        'größe/日本',
        "a+b&c=d?e#f%20g'h(i)!*~",
        'a//b',
        '..a/.b',
        '%2F',
        'é',
        ' ',
        '🙂',
      ];
      for (const key of keys)
        expect([key, await createObjectStore(http, settings).fetch('mails', key, { maxBytes: 1_000 })]).toEqual([
          key,
          { kind: 'object', body: expect.anything() },
        ]);
      const wrong = { ...settings, secretAccessKey: 'another' };
      await expect(createObjectStore(http, wrong).fetch('mails', 'mail', { maxBytes: 1_000 })).rejects.toThrow(
        'allow s3:GetObject',
      );
      await store.close();
    },
  );
});

describe('an SNS message', () => {
  it('an SNS message is accepted or refused exactly as an independent verifier does', async () => {
    const topic = await startTopic();
    const pem = await (await fetch(`${topic.url}/SimpleNotificationService.pem`)).text();
    // The library that checks our verifier downloads certificates by https only.
    const tls = selfSigned(['localhost']);
    const server = createTlsServer(tls, (_, response) => response.end(pem)).listen(0, 'localhost');
    await once(server, 'listening');
    globalAgent.options.ca = tls.cert;
    const SigningCertURL = `https://localhost:${(server.address() as AddressInfo).port}/a.pem`;

    const other = new MessageValidator(/^localhost:\d+$/, 'utf8');
    const theirs = (body: string): Promise<boolean> =>
      new Promise((resolve) => other.validate(JSON.parse(body) as Record<string, unknown>, (error) => resolve(!error)));
    const ours = createSnsVerifier({
      http: { request: async () => ({ status: 200, headers: {}, body: Buffer.from(pem) }) as never },
      hosts: { certHosts: ['localhost'], egressAllow: [] },
    });

    const made: Partial<SnsMessage>[] = [
      {},
      { Subject: 'Größe – 日本 🙂' },
      { Message: '{"a":"b\\nc"}\n\n', Subject: '' },
      { Message: '' },
      // UnsubscribeConfirmation is left out: the other verifier omits its Token, contrary to Amazon's documentation.
      { Type: 'SubscriptionConfirmation' },
    ];
    const altered = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Token', 'SubscribeURL', 'Signature'];
    const verdicts = new Map<boolean, number>();
    for (const fields of made)
      for (const SignatureVersion of ['1', '2'] as const)
        for (const name of [undefined, ...altered]) {
          const given = { ...fields, SignatureVersion, SigningCertURL };
          const original = JSON.parse(topic.message(given)) as SnsMessage;
          if (name !== undefined && !(name in original)) continue;
          const before = String(original[name as keyof SnsMessage]);
          const body = topic.message(given, name === undefined ? {} : { [name]: `${before.slice(1)}x` });
          const verdict = await theirs(body);
          const ourVerdict = await ours.isSigned(JSON.parse(body) as SnsMessage, new Date());
          expect([name, SignatureVersion, ourVerdict]).toEqual([name, SignatureVersion, verdict]);
          expect(verdict).toBe(name === undefined);
          verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
        }
    expect([verdicts.get(true), verdicts.get(false)! > 50]).toEqual([10, true]);
    delete globalAgent.options.ca;
    server.closeAllConnections();
    server.close();
    await topic.close();
  });
});
