/**
 * A tool may ask a question in the middle of a call: only the customer answers it, in the conversation, and the call
 * continues.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inputRequired } from '@modelcontextprotocol/server';
import { sharedDatabase } from '../kit/database.ts';
import { apiAt, system, until } from '../kit/harness.ts';
import type { TestTool } from '../kit/mcp-server.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { cancel, customerOf, openShop, please, shopping } from '../kit/toolshop.ts';

const api = system();
const db = sharedDatabase();
const { opened, met } = shopping(api);

const requestedSchema = {
  type: 'object' as const,
  properties: {
    reason: { type: 'string' as const, title: 'Why?', enum: ['late', 'wrong'], enumNames: ['Too late', 'Wrong thing'] },
    iban: {
      type: 'string' as const,
      title: 'Account',
      description: 'Where the money goes',
      minLength: 5,
      maxLength: 34,
    },
  },
  required: ['reason'],
};
/** A tool that asks one question and returns the answer that it got. */
const asking: TestTool = {
  ...cancel,
  answer: (_given, _meta, answers) =>
    answers
      ? { content: [{ type: 'text', text: `Heard ${JSON.stringify(answers)}` }] }
      : inputRequired({
          inputRequests: { why: inputRequired.elicit({ message: 'Why is <b>it</b> cancelled?', requestedSchema }) },
          requestState: 'state-of-the-server',
        }),
};
const terms = { risk_tier: 'safe_write' } as const;

describe('a tool that asks the customer something', () => {
  it('a tool’s question to the customer is answered once, only by that customer, and the tool continues with the answer', async () => {
    const shop = await opened([{ tool: asking, ...terms }]);
    const { client } = await met(shop);
    const { client: other } = await met(shop);
    client.say(please);
    const asked = await client.frame('input');
    expect(asked).toMatchObject({
      tool_name: 'cancel_order',
      title: 'Cancel order',
      message: 'Why is it cancelled?',
      fields: [
        {
          name: 'reason',
          label: 'Why?',
          kind: 'choice',
          required: true,
          options: [
            { value: 'late', label: 'Too late' },
            { value: 'wrong', label: 'Wrong thing' },
          ],
        },
        { name: 'iban', label: 'Account', description: 'Where the money goes', kind: 'text', required: false },
      ],
    });
    const reply = { type: 'input_response', pending_id: asked.pending_id, question_id: asked.question_id };
    const content = { reason: 'late', iban: 'DE021234' };
    other.send({ ...reply, action: 'accept', content });
    expect((await other.frame('error')).code).toBe('NOTHING_PENDING');
    for (const wrong of [{}, { reason: 'other' }, { reason: 'late', iban: 'x' }, { reason: 'late', more: 1 }]) {
      const before = client.frames.filter(({ type }) => type === 'error').length;
      client.send({ ...reply, action: 'accept', content: wrong });
      await until(async () => client.frames.filter(({ type }) => type === 'error').length > before, 'it to be refused');
    }
    expect(client.frames.flatMap((frame) => (frame.type === 'error' ? [frame.code] : []))).toEqual(
      Array.from({ length: 4 }, () => 'VALIDATION'),
    );
    client.send({ type: 'confirm_response', pending_id: asked.pending_id, approved: true });
    client.send({ ...reply, question_id: '1.2', action: 'accept', content });
    expect(shop.mcp.calls).toHaveLength(1);
    client.send({ ...reply, action: 'accept', content });
    client.send({ ...reply, action: 'decline' });
    expect(await client.frame('input_ack')).toMatchObject({ pending_id: asked.pending_id, action: 'accept' });
    const text = JSON.stringify({ why: { action: 'accept', content } });
    expect((await client.frame('reply_end')).body).toBe(`Cancel order:\nHeard ${text}`);
    expect(await client.frame('action_result')).toMatchObject({ pending_id: asked.pending_id, ok: true });
    expect([await shop.outcomes(1), shop.mcp.calls.length]).toEqual([['ok'], 2]);
    const said = (await shop.events()).map(({ action }) => action);
    expect(said).toEqual(expect.arrayContaining(['asked_input', 'answered_input']));
    expect(JSON.stringify(await shop.events())).not.toContain('DE021234');
  });

  it.each(['decline', 'cancel'] as const)(
    'a tool that asks the customer something is told that the customer chose to %s',
    async (action) => {
      const shop = await opened([{ tool: asking, ...terms }]);
      const { client } = await met(shop);
      client.say(please);
      const { pending_id, question_id } = await client.frame('input');
      client.send({ type: 'input_response', pending_id, question_id, action });
      expect((await client.frame('reply_end')).body).toContain(JSON.stringify({ why: { action } }));
    },
  );

  it('a tool may ask several questions, one after the other and in several rounds', async () => {
    const question = (message: string) =>
      inputRequired.elicit({
        message,
        requestedSchema: { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] },
      });
    const tool: TestTool = {
      ...cancel,
      answer: (_given, _meta, answers) =>
        answers?.['third']
          ? { content: [{ type: 'text', text: 'Three answers.' }] }
          : inputRequired({
              inputRequests: answers
                ? { third: question('Third?') }
                : { first: question('First?'), second: question('Second?') },
            }),
    };
    const shop = await opened([{ tool, ...terms }]);
    const { client } = await met(shop);
    client.say(please);
    for (const message of ['First?', 'Second?', 'Third?']) {
      const { pending_id, question_id } = await client.frame('input', (frame) => frame.message === message);
      client.send({ type: 'input_response', pending_id, question_id, action: 'accept', content: { yes: true } });
    }
    expect((await client.frame('reply_end')).body).toContain('Three answers.');
    expect(shop.mcp.calls).toHaveLength(3);
  });

  it('a tool that asks the customer something gets no answer after the question’s deadline, and is not called again', async () => {
    const shop = await opened([{ tool: asking, ...terms }]);
    const { client } = await met(shop);
    client.say(please);
    const { pending_id, question_id } = await client.frame('input');
    const calls = db().collection('tool_calls');
    await calls.updateOne({ _id: pending_id as never }, { $set: { ask_until: new Date(Date.now() - 1) } });
    client.send({ type: 'input_response', pending_id, question_id, action: 'accept', content: { reason: 'late' } });
    expect(await client.frame('error')).toMatchObject({ code: 'NOTHING_PENDING' });
    expect(shop.mcp.calls).toHaveLength(1);
  });
});

describe('when a worker dies while a tool’s question is open', () => {
  let env: SystemEnv;
  let own: Running;
  beforeAll(async () => {
    env = systemEnv('toolquestions', { FLEETS: 'conversations,tools' });
    own = await startProcess('api/server.ts', env);
  });
  afterAll(async () => {
    await own.stop();
    await removeDataDir(env);
  });

  it('when a worker dies while a tool’s question is open, another one continues, and the tool receives the customer’s answer once', async () => {
    const here = apiAt(own.url);
    const shop = await openShop(here, [{ tool: asking, ...terms }]);
    const first = await startProcess('workers/main.ts', env);
    const { client } = await customerOf(here, shop.org, shop.key);
    client.say(please);
    const { pending_id, question_id } = await client.frame('input');
    await first.kill();
    client.send({ type: 'input_response', pending_id, question_id, action: 'accept', content: { reason: 'wrong' } });
    await client.frame('input_ack');
    expect(shop.mcp.calls).toHaveLength(1);
    const second = await startProcess('workers/main.ts', env);
    expect((await client.frame('reply_end')).body).toContain('"reason":"wrong"');
    expect([await shop.outcomes(1), shop.mcp.calls.length]).toEqual([['ok'], 2]);
    client.drop();
    await second.stop();
    await shop.mcp.close();
  });
});
