/**
 * What operators see of a workflow from its start: its summary, what it does, and its search attributes. The function
 * is pure.
 */
import type { SearchAttributePair } from '@temporalio/common';
import { searchAttributes } from '../attributes.ts';
import { kindOf, summaryOf } from './kinds.ts';

/** The options for starting a workflow. `orgId` is absent for work of the whole platform. */
export function introduced(workflow: string, workflowId: string, orgId?: string, mode?: string) {
  const kind = kindOf(workflow);
  const typedSearchAttributes: SearchAttributePair[] = [
    ...(kind ? [{ key: searchAttributes.kind, value: kind.kind }] : []),
    ...(orgId === undefined ? [] : [{ key: searchAttributes.organization, value: orgId }]),
    ...(mode === undefined ? [] : [{ key: searchAttributes.mode, value: mode }]),
  ];
  return {
    staticSummary: summaryOf(workflow, workflowId, orgId),
    staticDetails: kind?.does ?? '',
    typedSearchAttributes,
  };
}
