/** The keys that sign login tokens. Private halves are sealed; all processes share them through the database. */
import mongoose from 'mongoose';
import { isDuplicate } from './connect.ts';

export type SigningKey = {
  /** The `kid`. */
  _id: string;
  /** Counts up; the highest signs. Unique, so two processes that rotate at once make one key. */
  number: number;
  public_jwk: Record<string, unknown>;
  /** Sealed with `config.secretKey`. */
  private_jwk: string;
  created_at: Date;
};

const schema = new mongoose.Schema<SigningKey>(
  {
    _id: { type: String, required: true },
    number: { type: Number, required: true, unique: true },
    public_jwk: { type: mongoose.Schema.Types.Mixed, required: true },
    private_jwk: { type: String, required: true },
    created_at: { type: Date, required: true },
  },
  { collection: 'signing_keys', versionKey: false },
);

export const SigningKeyModel = mongoose.model<SigningKey>('SigningKey', schema);

/** Newest first. */
export async function listSigningKeys(): Promise<SigningKey[]> {
  return SigningKeyModel.find().sort({ number: -1 }).lean();
}

/** Stores a new key; false when another process was faster with the same number. */
export async function addSigningKey(key: SigningKey): Promise<boolean> {
  try {
    await SigningKeyModel.create(key);
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

export async function removeSigningKeysBefore(number: number): Promise<void> {
  await SigningKeyModel.deleteMany({ number: { $lt: number } });
}
