/** The tool server, the approved tools, and all tools that the server offers. */
import { useSignal } from '@preact/signals';
import { call, type BodyOf } from '../../api/call.ts';
import {
  deleteToolServer,
  discoverTools,
  getToolServer,
  putToolServer,
  type ToolServer,
} from '../../../../api/mcp/contract/mcp.ts';
import { Approve, type Approved, type Chosen, type Discovered } from './approve.tsx';
import { Confirm } from '../frame/confirm.tsx';
import { Form } from '../frame/form.tsx';
import { useLoaded } from '../frame/loaded.ts';
import { Act } from '../../parts/act.tsx';
import { fieldsOf, Select, Text, textOf, Tick } from '../../parts/field.tsx';
import { here, isAdmin } from '../../state/session.ts';
import { attempt } from '../../state/toast.ts';
import { texts } from '../../texts/texts.ts';

type Body = BodyOf<typeof putToolServer>;
type Sent = NonNullable<Body['approved_tools']>[number];

export function Server() {
  const t = texts.value.tools;
  const at = here();
  const { data, error, put } = useLoaded(() => call(getToolServer, at));
  const found = useSignal<readonly Discovered[] | undefined>(undefined);
  const approving = useSignal<Discovered | undefined>(undefined);
  const removing = useSignal(false);
  if (!data) return <p class={error && 'error'}>{error || texts.value.loading}</p>;
  const { server, authorization_url } = data;
  const change = async (body: Body) => {
    put(await call(putToolServer, { ...at, body }));
  };
  const discover = async () => {
    found.value = (await call(discoverTools, at)).tools;
  };
  const standingOf = (name: string, tools = server?.approved_tools) =>
    tools?.find(({ source_name }) => source_name === name);
  /**
   * Sends the complete list of approved tools, in which `sent` takes the place of the tool with this name. The list is
   * read again right before, so that changes that other members have made meanwhile are kept. The other tools are sent
   * back as the server has them, so that a suspended tool stays suspended.
   */
  const replace = async (name: string, sent: (standing: Approved | undefined) => Sent[]) => {
    const tools = (await call(getToolServer, at)).server?.approved_tools ?? [];
    const others = tools.filter(({ source_name }) => source_name !== name);
    await change({ approved_tools: [...others, ...sent(standingOf(name, tools))] });
    if (found.value) await discover();
  };
  return (
    <>
      {!server && <p>{t.noServer}</p>}
      {isAdmin.value && <Settings server={server} change={change} />}
      {server?.auth_type === 'oauth2' && <p>{server.signed_in ? t.signedIn : t.notSignedIn}</p>}
      {authorization_url && (
        <p>
          <a class="button" href={authorization_url} target="_blank" rel="noopener noreferrer">
            {t.signIn}
          </a>
        </p>
      )}
      {server && (
        <>
          <ul class="cards">
            {server.approved_tools.map((tool) => (
              <li key={tool.source_name}>
                <h2>{tool.tool_name}</h2>
                <p>{tool.description}</p>
                <p class="line">
                  <span class="mark">{t.tiers[tool.risk_tier]}</span>{' '}
                  <span class="mark">{t.scopes[tool.auth_scope]}</span>
                </p>
                {tool.suspended && <p class="error">{t.suspended}</p>}
                {tool.problem && <p class="error">{tool.problem}</p>}
                {tool.notes?.map((note) => (
                  <p key={note}>{note}</p>
                ))}
                {isAdmin.value && (
                  <Act
                    name={texts.value.withdraw}
                    of={tool.tool_name}
                    act={() => attempt(() => replace(tool.source_name, () => []))}
                  />
                )}
              </li>
            ))}
          </ul>
          {isAdmin.value && (
            <p class="line">
              <Act name={t.discover} kind="main" act={() => attempt(discover)} />
              <Act name={texts.value.remove} kind="danger" act={() => (removing.value = true)} />
            </p>
          )}
          <ul class="cards" aria-live="polite">
            {found.value?.map((tool) => (
              <li key={tool.source_name}>
                <h2>
                  {tool.source_name} <span class="mark">{t.statuses[tool.status]}</span>
                </h2>
                <p>{tool.description}</p>
                {tool.problem && <p class="error">{tool.problem}</p>}
                {tool.diff && tool.diff.length > 0 && (
                  <details>
                    <summary>{t.differences}</summary>
                    <dl>
                      {tool.diff.map(({ field, change, before, after }) => (
                        <div key={field}>
                          <dt>
                            {field}: {t.fields[change]}
                          </dt>
                          <dd>
                            <pre>
                              {JSON.stringify(before)} → {JSON.stringify(after)}
                            </pre>
                          </dd>
                        </div>
                      ))}
                    </dl>
                  </details>
                )}
                {(tool.status === 'new' || tool.status === 'changed') && (
                  <Act name={t.approve} of={tool.source_name} act={() => (approving.value = tool)} />
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {approving.value && (
        <Approve
          tool={approving.value}
          standing={standingOf(approving.value.source_name)}
          approve={(chosen) => {
            const tool = approving.value!;
            return replace(tool.source_name, (standing) => [approvalOf(tool, standing, chosen)]);
          }}
          closed={() => (approving.value = undefined)}
        />
      )}
      {removing.value && (
        <Confirm
          title={t.removeAsk}
          action={texts.value.remove}
          act={() => attempt(async () => put(await call(deleteToolServer, at)))}
          closed={() => (removing.value = false)}
        />
      )}
    </>
  );
}

/**
 * The approval of a tool with the definition that the member has seen. If another definition has been discovered
 * meanwhile, the check before the next call suspends the tool. Settings of an earlier approval, such as its limits,
 * stay.
 */
function approvalOf(
  { source_name, description, input_schema, output_schema }: Discovered,
  standing: Approved | undefined,
  chosen: Chosen,
): Sent {
  const { output_schema: _earlier, ...settings } = standing ?? {};
  const definition = { source_name, description, input_schema, ...(output_schema ? { output_schema } : {}) };
  return { ...settings, ...definition, ...chosen, suspended: false };
}

type Given = { server: ToolServer | null; change: (body: Body) => Promise<void> };

function Settings({ server, change }: Given) {
  const t = texts.value.tools;
  const of = fieldsOf({ ...t, server_label: texts.value.name, endpoint_url: texts.value.address }, server ?? {});
  const auth = useSignal<ToolServer['auth_type']>(server?.auth_type ?? 'none');
  const send = async (form: HTMLFormElement) => {
    const token = textOf(form, 'access_token');
    await change({
      server_label: textOf(form, 'server_label'),
      endpoint_url: textOf(form, 'endpoint_url'),
      auth_type: auth.value,
      enabled: textOf(form, 'enabled') === 'on',
      environment: textOf(form, 'sandbox') === 'on' ? 'sandbox' : 'production',
      ...(auth.value === 'bearer' && token ? { access_token: token } : {}),
    });
  };
  return (
    <details open={!server}>
      <summary>{server ? `${server.server_label}, ${server.endpoint_url}` : t.tabs['server']}</summary>
      <Form send={send} action={t.connect} done={texts.value.saved}>
        <Text {...of('server_label')} required />
        <Text {...of('endpoint_url')} type="url" required placeholder="https://" />
        <Select
          {...of('auth_type')}
          names={t.auths}
          chosen={auth.value}
          change={(type) => (auth.value = type as 'none')}
        />
        {auth.value === 'bearer' && (
          <Text
            {...of('access_token')}
            hint={server?.has_access_token ? t.tokenKept : ''}
            type="password"
            autocomplete="off"
          />
        )}
        <Tick name="enabled" label={t.enabled} checked={server?.enabled ?? true} />
        <Tick name="sandbox" label={t.sandbox} checked={server?.environment === 'sandbox'} />
      </Form>
    </details>
  );
}
