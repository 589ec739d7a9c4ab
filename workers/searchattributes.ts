/** Registers the search attributes of workflows with a Temporal server that lacks them. */
import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { cliType, searchAttributes } from '../workflows/attributes.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;

/**
 * Throws an error that explains how to add the attributes by hand, when this client lacks the permission to add them.
 */
export async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.values(searchAttributes).filter(({ name }) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return;
  await connection.operatorService
    .addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        missing.map(({ name, type }) => [name, IndexedValueType[`INDEXED_VALUE_TYPE_${type}`]]),
      ),
    })
    .catch((error: { code?: number; message?: string }) => {
      // Another worker has added the attribute meanwhile.
      if (error.code === 6) return;
      throw new Error(
        `Temporal lacks the search attributes ${missing.map(({ name, type }) => `${name} (${cliType(type)})`).join(', ')} in namespace ${namespace}, and adding them failed (${error.message}). ` +
          'Add them with: temporal operator search-attribute create --name NAME --type TYPE',
        { cause: error },
      );
    });
}
