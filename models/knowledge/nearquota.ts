/** Counts, for operators, the organizations that will soon be refused further documents or pages. */
import { acrossShards } from '../base/define.ts';
import { OrganizationModel, type Organization } from '../access/organization.ts';
import { DocumentModel } from './document.ts';
import { PageModel } from './page.ts';
import type { Mode } from '../rules/access/keys.ts';
import { nearShare, quotaEnvironment, type Feature, type Quotas } from '../rules/knowledge/quota.ts';

type Held = { _id: { org_id: string; mode: Mode }; used: number; organization: Pick<Organization, 'environment'>[] };

/**
 * Records are counted from indexes alone. `match` has a condition on `org_id`, which is true for every record, because
 * MongoDB needs a range of the index's first field.
 */
const sources = {
  documents: {
    of: () => acrossShards(DocumentModel),
    match: { org_id: { $gt: '' } },
    hint: { org_id: 1, mode: 1, sha256: 1 },
  },
  knowledge_pages: {
    of: () => acrossShards(PageModel),
    match: { org_id: { $gt: '' }, live: true },
    hint: { org_id: 1, mode: 1, live: 1, url: 1 },
  },
} as const;

/** The number of organizations that hold 80 % of a quota or more, in either mode. */
export async function countNearQuota(quotas: Quotas, feature: Feature): Promise<number> {
  const { of, match, hint } = sources[feature];
  const held = await of()
    .aggregate<Held>(
      [
        { $match: match },
        { $group: { _id: { org_id: '$org_id', mode: '$mode' }, used: { $sum: 1 } } },
        { $match: { used: { $gte: nearShare * Math.min(quotas.sandbox[feature], quotas.production[feature]) } } },
        {
          $lookup: {
            from: OrganizationModel.collection.collectionName,
            localField: '_id.org_id',
            foreignField: '_id',
            as: 'organization',
          },
        },
      ],
      { hint },
    )
    .toArray();
  const near = held.filter(({ _id: { mode }, used, organization: [organization] }) => {
    const environment = quotaEnvironment(mode, organization?.environment ?? 'sandbox');
    return used >= nearShare * quotas[environment][feature];
  });
  return new Set(near.map(({ _id }) => _id.org_id)).size;
}
