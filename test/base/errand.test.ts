import { expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import mongoose from 'mongoose';
import { modelsIn } from '../kit/database.ts';
import { createErrand, readErrand, takeErrand, writeErrand } from '../../models/base/errand.ts';
import { createSecretBox } from '../../models/base/secretbox.ts';

modelsIn('errands');
const secrets = createSecretBox([randomBytes(32)]);

it('a value passed between API and worker (an errand) is stored encrypted and can be taken once, by its organization only', async () => {
  const id = await createErrand('org_1', { password: 'word' }, { secrets, now: new Date() });
  const stored = await mongoose.connection.db!.collection<{ _id: string }>('errands').findOne({ _id: id });
  expect(JSON.stringify(stored)).toContain(id);
  expect(JSON.stringify(stored)).not.toContain('word');
  expect(await readErrand('org_1', id, secrets)).toEqual({ password: 'word' });
  expect(await readErrand('org_2', id, secrets)).toBeNull();
  await writeErrand('org_2', id, { said: 'foreign' }, secrets);
  await writeErrand('org_1', id, { said: 'done' }, secrets);
  expect(await takeErrand('org_2', id, secrets)).toBeNull();
  const taken = await Promise.all([1, 2, 3, 4].map(() => takeErrand('org_1', id, secrets)));
  expect(taken.filter((content) => content !== null)).toEqual([{ said: 'done' }]);
  await writeErrand('org_1', id, { said: 'late' }, secrets);
  expect(await readErrand('org_1', id, secrets)).toBeNull();
});
