/**
 * The commands of `tools` and `approvals`: the organization's tool server, the tools that the agent may call, and calls
 * that wait for approval.
 */
import { z } from 'zod';
import { command, listing, noun, steps } from '../described.ts';
import { CliError } from '../errors.ts';
import type { Given } from '../fields.ts';
import { record, table } from '../output.ts';
import type { Session } from '../session.ts';
import * as approval from '../../api/chat/contract/approvals.ts';
import * as contract from '../../api/mcp/contract/mcp.ts';

type Reply = z.infer<typeof contract.serverReply>;
type Server = NonNullable<Reply['server']>;

/** The fields that a member chooses when approving a tool; the server sets the others. */
const terms = contract.serverBody.shape.approved_tools.unwrap().element.omit({
  source_name: true,
  description: true,
  input_schema: true,
  output_schema: true,
  risk: true,
  suspended: true,
  problem: true,
  notes: true,
});

/** The fields of the tool server, followed by a table of its approved tools without their schemas. */
function serverLines({ server, authorization_url }: Reply, width: number): string[] {
  if (server === null) return ['No tool server is connected: connect one with tools set.'];
  const { approved_tools, ...connection } = server;
  return [
    ...record(connection, width),
    ...(authorization_url ? ['', `Open this to sign in: ${authorization_url}`] : []),
    '',
    ...(approved_tools.length === 0
      ? ['No tool is approved: see tools discover, then tools approve.']
      : table(
          ['TOOL', 'NAME', 'TIER', 'FOR', 'STATE'],
          approved_tools.map((tool) => [
            tool.source_name,
            tool.tool_name,
            tool.risk_tier,
            tool.auth_scope,
            tool.suspended ? 'suspended' : tool.enabled ? 'enabled' : 'disabled',
          ]),
        )),
  ];
}

/** Replaces the list of approved tools by the result of `change`. */
async function changeTools(session: Session, change: (tools: Server['approved_tools']) => object[]): Promise<Reply> {
  const client = await session.client();
  const path = `/support/mcp/orgs/${await session.orgId()}/server`;
  const query = { mode: session.mode };
  const { server } = await client.request('GET', path, contract.serverReply, { query });
  if (!server)
    throw new CliError('No tool server is connected: connect one with tools set.', { code: 'NO_TOOL_SERVER' });
  const body = { approved_tools: change(server.approved_tools) };
  return client.request('PUT', path, contract.serverReply, { query, body });
}

async function approve(session: Session, { tool, ...chosen }: Given): Promise<void> {
  const reply = await changeTools(session, (tools) => {
    const known = tools.find(({ source_name: name }) => name === tool);
    // The description and the schemas are left out, so that the server takes them from the last discovery.
    const { input_schema: _i, output_schema: _o, description: _d, suspended: _s, ...kept } = known ?? {};
    const others = tools.filter((each) => each !== known);
    return [...others, { ...kept, source_name: tool, ...chosen }];
  });
  const approved = reply.server?.approved_tools.find(({ source_name: name }) => name === tool);
  session.output.result({ tool: approved }, () => [
    `${String(tool)} is approved as ${approved?.tool_name}: ${approved?.risk_tier}, for ${approved?.auth_scope}`,
  ]);
}

export const tools = noun({
  name: 'tools',
  description: 'connect the tool server, approve its tools, and read what was called',
  commands: [
    command({
      name: 'get',
      description: 'show the tool server and the approved tools',
      does: contract.getToolServer,
      lines: (reply, _, width) => serverLines(reply, width),
    }),
    command({
      name: 'set',
      description: 'connect a tool server, or change what is named; the rest stays',
      examples: [
        'set --endpoint-url https://tools.example.com/mcp',
        'set --auth-type bearer --access-token - < token',
        'set --no-enabled',
      ],
      does: contract.putToolServer,
      except: ['approved_tools'],
      lines: (reply, _, width) => serverLines(reply, width),
    }),
    command({
      name: 'disconnect',
      description: 'disconnect the tool server; all its tools are off at once',
      does: contract.deleteToolServer,
      lines: () => ['The tool server is disconnected.'],
    }),
    listing({
      name: 'discover',
      description: 'what the server offers now, beside what is approved; it approves nothing',
      does: contract.discoverTools,
      entries: 'tools',
      columns: {
        TOOL: (tool) => tool.source_name,
        STATUS: (tool) => tool.status,
        CHANGED: (tool) => tool.diff?.map(({ field }) => field),
        DESCRIPTION: (tool) => tool.description.split('\n')[0],
      },
      none: 'The server offers no tools.',
    }),
    steps({
      name: 'approve',
      description: 'approve a tool as it was discovered last, beside those that are approved already',
      examples: ['approve get_balance --risk-tier read_private --auth-scope verified_customer'],
      does: contract.putToolServer,
      args: { tool: 'the server’s name of it; tools discover shows it' },
      fields: {
        of: terms,
        body: () => undefined,
      },
      runs: approve,
    }),
    steps({
      name: 'withdraw',
      description: 'take the approval of a tool back; it is not called any more',
      examples: ['withdraw get_balance'],
      does: contract.putToolServer,
      args: { tool: 'the server’s name of it; tools get shows it' },
      fields: { of: z.object({}), body: () => undefined },
      async runs(session, { tool }) {
        const reply = await changeTools(session, (all) => {
          const left = all.filter(({ source_name: name }) => name !== tool);
          if (left.length === all.length)
            throw new CliError(`${String(tool)} is not approved; tools get lists those that are.`, {
              code: 'NOT_FOUND',
            });
          return left;
        });
        session.output.result(reply, () => [`${String(tool)} is not called any more`]);
      },
    }),
    listing({
      name: 'audit',
      description: 'list what was configured and called, newest first',
      examples: ['audit --outcome error --limit 20'],
      does: contract.listToolAudit,
      entries: 'events',
      columns: {
        TIME: (event) => event.ts,
        MODE: (event) => event.mode,
        KIND: (event) => event.kind,
        ACTION: (event) => event.action,
        TOOL: (event) => event.tool,
        OUTCOME: (event) => event.outcome,
        ACTOR: (event) => event.actor,
        CONVERSATION: (event) => event.conversation_id,
      },
      none: 'There are no such events.',
    }),
    command({
      name: 'verify',
      description: 'check that nothing in the audit was changed or removed',
      examples: ['verify', 'verify --whole true'],
      does: contract.verifyToolAudit,
    }),
  ],
});

const decide = (verb: 'approve' | 'deny', description: string) =>
  command({
    name: verb,
    description,
    does: verb === 'approve' ? approval.approveToolCall : approval.denyToolCall,
    login: true,
    lines: ({ id, decision }) => [`${id} is ${decision}`],
  });

export const approvals = noun({
  name: 'approvals',
  description: 'decide on tool calls that wait for a member',
  example: 'call_01M7YGT1Y2M8Q0Z6V3C4K5R7XA',
  commands: [
    listing({
      name: 'list',
      description: 'list the calls that wait',
      does: approval.listToolApprovals,
      entries: 'approvals',
      columns: {
        APPROVAL: (call) => call.id,
        MODE: (call) => call.mode,
        TOOL: (call) => call.tool_name,
        TIER: (call) => call.risk_tier,
        UNTIL: (call) => call.expires_at,
        CUSTOMER: (call) => call.customer_id,
        ARGUMENTS: (call) => call.arguments,
      },
      none: 'No call waits for a member.',
    }),
    decide('approve', 'let the call be made'),
    decide('deny', 'refuse the call'),
  ],
});
