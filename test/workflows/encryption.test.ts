/**
 * With encrypted payloads, Temporal's database holds nothing of what people wrote: every kind of workflow runs on a real
 * server with planted texts in arguments, results, failures, signals, memo, summary and details.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { plainStories, type Kind } from './plainstories.ts';
import { until } from '../kit/harness.ts';
import { startTemporal, type Temporal } from '../../engines/temporal.ts';
import { createPayloadCodec } from '../../models/base/payloadcodec.ts';
import { bundleWorkflows } from '../../workers/bundle.ts';
import { encryptionOf } from '../../workflows/encryption.ts';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const words = { name: 'Grace Plantedname', address: 'grace@planted.example', text: 'the planted code is 471147' };
const planted = JSON.stringify(words);

describe('the payload codec', () => {
  const payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"secret words"') };
  const bytes = (value: Uint8Array | null | undefined): string => Buffer.from(value ?? []).toString();

  it('a payload is decrypted to its original content, and its encrypted form reveals only the id of the key', async () => {
    const codec = createPayloadCodec([newKey]);
    const [sealed] = await codec.encode([payload]);
    expect(Object.keys(sealed!.metadata!)).toEqual(['encoding', 'encryption-key-id']);
    expect(bytes(sealed!.data)).not.toContain('secret');
    const [opened] = await codec.decode([sealed!]);
    expect([bytes(opened!.metadata!['encoding']), bytes(opened!.data)]).toEqual(['json/plain', '"secret words"']);
    expect(await codec.decode([payload])).toEqual([payload]);
  });

  it('payloads that a former key encrypted are decrypted as long as that key is configured', async () => {
    const [sealed] = await createPayloadCodec([oldKey]).encode([payload]);
    const [opened] = await createPayloadCodec([newKey, oldKey]).decode([sealed!]);
    expect(bytes(opened!.data)).toBe('"secret words"');
    const id = bytes(sealed!.metadata!['encryption-key-id']);
    await expect(createPayloadCodec([newKey]).decode([sealed!])).rejects.toThrow(id);
  });

  it('a deployment that has switched encryption off decrypts old payloads, and encrypts no new ones', async () => {
    const { dataConverter } = encryptionOf({ encryptsPayloads: false, secretKeys: [newKey] });
    const [codec] = dataConverter.payloadCodecs!;
    const sealed = await createPayloadCodec([newKey]).encode([payload]);
    expect(bytes((await codec!.decode(sealed))[0]!.data)).toBe('"secret words"');
    expect(await codec!.encode([payload])).toEqual([payload]);
  });

  it('an encrypted payload that was altered is not decrypted', async () => {
    const codec = createPayloadCodec([newKey]);
    const [sealed] = await codec.encode([payload]);
    const changed = Buffer.from(sealed!.data!);
    changed[changed.length - 1]! ^= 1;
    await expect(codec.decode([{ ...sealed, data: changed }])).rejects.toThrow(/authenticate/);
  });
});

describe('the database of Temporal', () => {
  let folder: string;
  let temporal: Temporal;
  let connection: Connection;
  let native: NativeConnection;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'support-encryption-'));
    temporal = await startTemporal({ dataDir: folder, report: () => undefined });
    connection = await Connection.connect({ address: temporal.address });
    native = await NativeConnection.connect({ address: temporal.address });
  });
  afterAll(async () => {
    await native.close();
    await connection.close();
    await temporal.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs kinds of workflows with planted texts. `fails`: every activity fails with these texts in its error. */
  async function plant(kinds: readonly Kind[], { encrypted, fails }: { encrypted: boolean; fails: boolean }) {
    const settings = encryptionOf({ encryptsPayloads: encrypted, secretKeys: [newKey] });
    // The bundle of the test run is the one that does not encrypt.
    const { code } = encrypted
      ? await bundleWorkflows(folder, { encrypted })
      : { code: await readFile(process.env['TEST_WORKFLOW_BUNDLE']!, 'utf8') };
    const { workflow } = new Client({ connection, ...settings });
    await Promise.all(
      kinds.map(async (kind) => {
        const workflowId = `${kind}-${randomUUID()}`;
        let handle: WorkflowHandle;
        const { ref, activities } = plainStories[kind];
        const plain = activities(() => handle);
        const worker = await Worker.create({
          connection: native,
          taskQueue: workflowId,
          workflowBundle: { code },
          ...settings,
          debugMode: true,
          activities: Object.fromEntries(
            Object.entries(plain).map(([name, activity]) => [
              name,
              async (input: never): Promise<unknown> => {
                if (fails) throw ApplicationFailure.nonRetryable(planted, 'Failed', words);
                const result = await activity(input);
                return typeof result === 'object' && result !== null && !Array.isArray(result)
                  ? { ...result, ...words }
                  : result;
              },
            ]),
          ),
        });
        await worker.runUntil(async () => {
          handle = await workflow.start(kind, {
            workflowId,
            taskQueue: workflowId,
            args: ref === undefined ? [] : [{ ...ref, ...words }],
            memo: words,
            staticSummary: planted,
            staticDetails: planted,
          });
          await handle.signal('planted', words);
          await until(async () => {
            const { status, historyLength, raw } = await handle.describe();
            const isIdle = !raw.pendingWorkflowTask && (raw.pendingActivities ?? []).length === 0;
            // A workflow whose local activities fail tries them again without end.
            return status.name !== 'RUNNING' || isIdle || (fails && historyLength >= 4);
          }, `${kind} to go on`);
          await handle.terminate('the end of the story').catch(() => undefined);
        });
      }),
    );
  }

  /** Those of the planted words that the database's files contain. */
  async function found(): Promise<string[]> {
    const names = (await readdir(folder)).filter((name) => name.startsWith('temporal.db'));
    const files = await Promise.all(names.map((name) => readFile(join(folder, name))));
    return Object.values(words).filter((word) => files.some((bytes) => bytes.includes(word)));
  }

  it('the database of Temporal contains no readable text from any kind of workflow, whether its activities succeed or fail', async () => {
    const kinds = Object.keys(plainStories) as Kind[];
    await plant(kinds, { encrypted: true, fails: false });
    await plant(kinds, { encrypted: true, fails: true });
    expect(await found()).toEqual([]);
    // The same search finds what an unencrypted workflow leaves.
    await plant(['notices'], { encrypted: false, fails: true });
    expect(await found()).toEqual(Object.values(words));
  });
});
