import { key } from '../../access/auth.ts';
import * as contract from '../contract/search.ts';
import { afterPlace, defaultLimit, placedListPage } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { searchInbox, type Found } from '../../../models/chat/search.ts';
import { excerptOf, searchWords } from '../../../models/rules/chat/search.ts';

/** A hit's position in the list: its time and its id. */
const placeOf = ({ at, id }: Found): string => `${at.toISOString()} ${id}`;
const placeForm = /^\d{4}-\d\d-\d\dT[\d:.]+Z [a-z]+_[0-9A-Z]{26}(?::conv_[0-9A-Z]{26})?$/;
/**
 * How many more hits are read than the page needs. The search also finds hits of the previous page, namely those with
 * the same time as that page's last hit. These are dropped, and the extra hits take their place.
 */
const sameMoment = 50;

const minuteMs = 60_000;

export const searchRoutes = [
  route(contract.searchInbox, {
    summary: 'Search messages, notes, and names and addresses of customers, the newest first.',
    auth: key('support:read'),
    limit: 'queries',
    async handle({ params: { orgId }, query, principal: { modes } }, ctx) {
      const limit = query.limit ?? defaultLimit;
      const words = searchWords(query.q);
      const after = afterPlace(query.cursor, placeForm);
      const from = new Date(query.from ?? 0);
      // The search covers times up to a minute in the future. So it includes hits that are stored during the search,
      // even if the clock of the process that stores them is ahead.
      const last = query.until === undefined ? new Date(ctx.clock().getTime() + minuteMs) : new Date(query.until);
      const until = after === undefined ? last : new Date(Math.min(last.getTime(), Date.parse(after.split(' ')[0]!)));
      const found = await searchInbox({ orgId, modes, words, from, until }, limit + 1 + sameMoment);
      const ordered = found
        .filter((one) => after === undefined || placeOf(one) < after)
        .toSorted((one, other) => (placeOf(one) < placeOf(other) ? 1 : -1));
      const { entries, cursor } = placedListPage(ordered, limit, placeOf);
      return {
        hits: entries.map(({ conv_id, place, id, at, text }) => ({
          conv_id,
          in: place,
          message_id: place === 'message' ? id : null,
          at,
          ...excerptOf(text, words),
        })),
        cursor,
      };
    },
  }),
];
