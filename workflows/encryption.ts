/**
 * How a deployment encrypts what it gives to Temporal. Every client and worker of a deployment gets the same settings.
 */
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { createPayloadCodec } from '../models/base/payloadcodec.ts';

export const failureConverterPath: string = fileURLToPath(new URL('base/failureconverter.ts', import.meta.url));

type Settings = { encryptsPayloads: boolean; secretKeys: readonly [Buffer, ...Buffer[]] };

/**
 * Plain and encrypted payloads can be read with either value of `encryptsPayloads`, so the setting may change at any
 * time.
 */
export const encryptionOf = ({ encryptsPayloads, secretKeys }: Settings): { dataConverter: DataConverter } => ({
  dataConverter: {
    payloadCodecs: [createPayloadCodec(secretKeys, encryptsPayloads)],
    ...(encryptsPayloads ? { failureConverterPath } : {}),
  },
});
