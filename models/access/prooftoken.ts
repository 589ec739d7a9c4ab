/**
 * Tokens that are sent by mail. A token is made of the id of what it stands for and the deployment's key whenever it is
 * needed, so that each attempt to send a mail sends the same one; only its hash is stored.
 */
import { createHmac } from 'node:crypto';
import { hashToken } from './key.ts';
import type { TokenPurpose } from '../rules/access/account.ts';

/** 43 characters, 256 bits. `key`: `config.secretKey`. `id` need not be a secret. */
export const proofToken = (key: Buffer, purpose: TokenPurpose, id: string): string =>
  createHmac('sha256', key).update(`mailed token\0${purpose}\0${id}`).digest('base64url');

/** What is stored of it. */
export const proofHash = (key: Buffer, purpose: TokenPurpose, id: string): string =>
  hashToken(proofToken(key, purpose, id));
