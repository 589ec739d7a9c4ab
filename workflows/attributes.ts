/**
 * The search attributes by which operators filter workflows. This is their only list: workers register them
 * (workers/searchattributes.ts), and the embedded server is started with them (engines/temporal.ts).
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

export const searchAttributes = {
  organization: defineSearchAttributeKey('Organization', SearchAttributeType.KEYWORD),
  mode: defineSearchAttributeKey('Mode', SearchAttributeType.KEYWORD),
  kind: defineSearchAttributeKey('Kind', SearchAttributeType.KEYWORD),
  status: defineSearchAttributeKey('Status', SearchAttributeType.KEYWORD),
  provider: defineSearchAttributeKey('Provider', SearchAttributeType.KEYWORD_LIST),
};

/** The type of a search attribute as Temporal's command line writes it, such as `Keyword` or `KeywordList`. */
export const cliType = (type: SearchAttributeType): string =>
  type.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
