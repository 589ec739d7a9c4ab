/**
 * What a widget gets about its organization before it knows the customer: look, texts and hours. All of it is public.
 */
import type { Context } from '../context.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { hasMailServer } from '../../models/integrations/integration.ts';
import { recentWidget, type Widget } from '../../models/chat/widget.ts';
import { isOpen, nextOpening } from '../../models/rules/access/hours.ts';
import { accentsOf } from '../../models/rules/chat/accent.ts';

/** The path of a picture on this server. The path contains the picture's hash, so it changes with the picture. */
export const pictureUrl = (orgId: string, picture: Widget['logo']): string | null =>
  picture ? `/widget/pictures/${orgId}/${picture.sha256}` : null;

/** A widget's look, texts and hours; undefined when the organization does not exist. */
export async function lookOf({ config, clock }: Pick<Context, 'config' | 'clock'>, orgId: string) {
  const [org, widget, ownServer] = await Promise.all([
    findOrganization(orgId),
    recentWidget(orgId),
    hasMailServer(orgId),
  ]);
  if (!org) return undefined;
  const now = clock();
  const open = !org.hours || isOpen(org.hours, now);
  return {
    org_id: orgId,
    accent: widget.accent && accentsOf(widget.accent),
    agent_name: widget.agent_name,
    greetings: widget.greetings,
    // Without a mail server no reply can be mailed, so the widget asks for no address.
    ask_email: ownServer || config.mail.server ? widget.ask_email : 'never',
    outside: widget.outside,
    // `open` is null when the team has no hours.
    open: org.hours ? open : null,
    next_opening: open ? null : (nextOpening(org.hours!, now)?.toISOString() ?? null),
    logo_url: pictureUrl(orgId, widget.logo),
    avatar_url: pictureUrl(orgId, widget.avatar),
  };
}
