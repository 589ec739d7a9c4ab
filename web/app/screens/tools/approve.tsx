/** The dialog that approves a tool: what a call of it requires, and for which customers it may be called. */
import type { ReplyOf } from '../../api/call.ts';
import type { discoverTools, ToolServer } from '../../../../api/mcp/contract/mcp.ts';
import { Form } from '../frame/form.tsx';
import { Act } from '../../parts/act.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Select, textOf } from '../../parts/field.tsx';
import { texts } from '../../texts/texts.ts';

export type Discovered = ReplyOf<typeof discoverTools>['tools'][number];
export type Approved = ToolServer['approved_tools'][number];
export type Chosen = Pick<Approved, 'risk_tier' | 'auth_scope'>;

type Given = {
  tool: Discovered;
  /** The earlier approval of the tool; its tier and scope are preselected. */
  standing: Approved | undefined;
  approve: (chosen: Chosen) => Promise<void>;
  closed: () => void;
};

export function Approve({ tool: { source_name, description }, standing, approve, closed }: Given) {
  const t = texts.value.tools;
  const send = async (form: HTMLFormElement) => {
    const risk_tier = textOf(form, 'tier') as Approved['risk_tier'];
    await approve({ risk_tier, auth_scope: textOf(form, 'scope') as Approved['auth_scope'] });
    closed();
  };
  return (
    <Dialog title={t.approveAs(source_name)} closed={closed}>
      <p>{description}</p>
      <Form send={send} action={t.approve} done={t.approved} beside={<Act name={texts.value.cancel} act={closed} />}>
        <Select name="tier" label={t.tier} names={t.tiers} chosen={standing?.risk_tier ?? 'customer_confirm'} />
        <Select name="scope" label={t.scope} names={t.scopes} chosen={standing?.auth_scope ?? 'verified_customer'} />
      </Form>
    </Dialog>
  );
}
