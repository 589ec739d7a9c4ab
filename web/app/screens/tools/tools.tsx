/** The organization's tool server: what the agent may call, calls that wait for a member, and what was called. */
import { Approvals } from './approvals.tsx';
import { Audit } from './audit.tsx';
import { Server } from './server.tsx';
import { Tabbed } from '../frame/tabbed.tsx';
import { texts } from '../../texts/texts.ts';

const tabs = { server: Server, approvals: Approvals, audit: Audit };

const Tools = () => <Tabbed screen="tools" tabs={tabs} names={texts.value.tools.tabs} />;
export default Tools;
