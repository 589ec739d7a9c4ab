import { z } from 'zod';
import { line } from '../../base/contract/common.ts';
import { maxTeamTags, tagColours } from '../../../models/rules/access/tags.ts';
import { maxTagLength } from '../../../models/rules/chat/triage.ts';
import { operation } from '../../base/contract/operation.ts';

export const teamTags = z.strictObject({
  tags: z
    .array(z.strictObject({ name: line(maxTagLength), colour: z.enum(tagColours) }))
    .max(maxTeamTags)
    .meta({ description: 'In the order of the lists that show them; each name once.' }),
});

export const listTeamTags = operation('listTeamTags', 'GET /orgs/{orgId}/tags', { reply: teamTags });
export const setTeamTags = operation('setTeamTags', 'PUT /orgs/{orgId}/tags', { body: teamTags, reply: teamTags });
