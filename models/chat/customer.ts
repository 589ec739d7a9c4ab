/**
 * Customers who write in conversations. Within an organization and mode, an external id, or else an e-mail address,
 * identifies one customer, even when sessions are created concurrently. An unverified visitor is a separate customer
 * who is never merged with another.
 */
import type mongoose from 'mongoose';
import { againIfDuplicate, isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, readerOf, wordIndex, type RecordOf } from '../base/define.ts';
import { boolean, date, oneOf, optional, string } from '../rules/base/fields.ts';
import { newId } from '../base/ids.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import { customerDays, keptUntil } from '../rules/chat/retention.ts';

export const CustomerModel = defineModel(
  'Customer',
  'customers',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    /** The organization's own id for this customer. */
    external_id: optional(string),
    /** The last known address, in lower case; several customers may share an address. */
    email: optional(string),
    /** The address that identifies this customer; it is unique. */
    email_identity: optional(string),
    /**
     * The address at which the customer wants replies. Anybody who chats may give any address, so the address proves
     * nothing about the customer. Only replies are mailed to it, and only when there is no `email`.
     */
    contact_email: optional(string),
    name: optional(string),
    /**
     * An id that the customer's browser chose for itself. It identifies an unverified visitor. For a verified customer,
     * it is the id of the browser that was used last, and only a hint.
     */
    visitor_id: optional(string),
    /** Whether the organization's backend, or a signature, vouches for the customer's identity. */
    verified: boolean,
    created_at: date,
    last_seen_at: date,
    /** When the customer's record expires; set only in test mode. */
    expires_at: optional(date),
    /** Set while the customer's data is being erased; the customer is no longer recognised. */
    erasing_at: optional(date),
  },
  [
    {
      fields: { org_id: 1, mode: 1, external_id: 1 },
      unique: true,
      partialFilterExpression: { external_id: { $exists: true } },
    },
    {
      fields: { org_id: 1, mode: 1, email_identity: 1 },
      unique: true,
      partialFilterExpression: { email_identity: { $exists: true } },
    },
    {
      fields: { org_id: 1, mode: 1, visitor_id: 1 },
      unique: true,
      partialFilterExpression: { visitor_id: { $exists: true }, verified: false },
    },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
    wordIndex('name', 'email', 'contact_email'),
  ],
);
export type Customer = RecordOf<typeof CustomerModel>;

const readCustomer = readerOf(CustomerModel);

export async function findCustomer(orgId: string, customerId: string): Promise<Readonly<Customer> | null> {
  return readCustomer(orgId, customerId);
}

export async function findCustomers(orgId: string, customerIds: readonly string[]): Promise<Customer[]> {
  return collectionOf(CustomerModel)
    .find({ _id: { $in: [...new Set(customerIds)] }, org_id: orgId })
    .toArray();
}

/** A customer's identity, for which the organization's backend, or a signature, vouches. `email` is in lower case. */
export type Identity = {
  externalId?: string | undefined;
  email?: string | undefined;
  name?: string | undefined;
  visitorId?: string | undefined;
};

/**
 * The verified customer with this identity, created if there is none; name, address and visitor id are updated. If both
 * an external id and an e-mail are given, the external id decides. A customer who was known only by the e-mail gets the
 * external id. An e-mail that identified another customer then identifies this customer instead.
 */
export async function provideCustomer(orgId: string, mode: Mode, identity: Identity, now: Date): Promise<Customer> {
  const { externalId, email } = identity;
  if (externalId === undefined && email === undefined)
    throw new TypeError('a customer needs an external id or an e-mail');
  const ends = keptUntil(mode, now, customerDays);
  const seen = compact({ email, name: identity.name, visitor_id: identity.visitorId, last_seen_at: now, ...ends });
  const known = { org_id: orgId, mode };
  const fresh = { _id: newId('customer'), verified: true, created_at: now };
  for (;;) {
    try {
      if (externalId === undefined) return await upsert({ ...known, email_identity: email! }, seen, fresh);
      const standing =
        (await update({ ...known, external_id: externalId }, seen)) ??
        (email === undefined
          ? null
          : await update(
              { ...known, email_identity: email, external_id: { $exists: false } },
              { ...seen, external_id: externalId },
            )) ??
        (await upsert({ ...known, external_id: externalId }, seen, fresh));
      if (email === undefined || standing.email_identity === email) return standing;
      const moved = await moveEmail(standing, email);
      if (moved) return moved;
    } catch (error) {
      // Another process stored the same customer first, so a retry finds it.
      if (!isDuplicate(error)) throw error;
    }
  }
}

/** The customer record of an unverified visitor, created if there is none. */
export async function provideVisitor(orgId: string, mode: Mode, visitorId: string, now: Date): Promise<Customer> {
  return againIfDuplicate(() =>
    upsert(
      { org_id: orgId, mode, visitor_id: visitorId, verified: false },
      { last_seen_at: now, ...keptUntil(mode, now, customerDays) },
      { _id: newId('customer'), created_at: now },
    ),
  );
}

/**
 * The first step of erasing a customer: removes all identifying fields, so that the person's next session creates a new
 * customer. Null when there is no such customer.
 */
export async function beginErasing(orgId: string, customerId: string, now: Date): Promise<Customer | null> {
  return collectionOf(CustomerModel).findOneAndUpdate(
    { _id: customerId, org_id: orgId },
    { $set: { erasing_at: now }, $unset: { external_id: '', email_identity: '', visitor_id: '' } },
    { returnDocument: 'after' },
  );
}

/** Stores the address at which the customer wants replies, in lower case. */
export async function setContactEmail(orgId: string, customerId: string, email: string): Promise<void> {
  await update({ _id: customerId, org_id: orgId, erasing_at: { $exists: false } }, { contact_email: email });
}

export const replyAddressOf = ({ email, contact_email }: Readonly<Customer>): string | undefined =>
  email ?? contact_email;

type Filter = mongoose.mongo.Filter<Customer> & { org_id: string };

function update(filter: Filter, set: Partial<Customer>): Promise<Customer | null> {
  return collectionOf(CustomerModel).findOneAndUpdate(filter, { $set: set }, { returnDocument: 'after' });
}

async function upsert(filter: Filter, set: Partial<Customer>, fresh: Partial<Customer>): Promise<Customer> {
  const done = await collectionOf(CustomerModel).findOneAndUpdate(
    filter,
    { $set: set, $setOnInsert: fresh },
    { upsert: true, returnDocument: 'after' },
  );
  return done!;
}

/**
 * Moves an identifying e-mail address from another customer to the given one. Null when the given customer is being
 * erased. Both updates are one command, so that MongoDB completes them even when this process crashes.
 */
async function moveEmail(customer: Customer, email: string): Promise<Customer | null> {
  const { _id, org_id, mode } = customer;
  const customers = collectionOf(CustomerModel);
  const there = { _id, org_id, erasing_at: { $exists: false } };
  await customers.bulkWrite([
    {
      updateOne: {
        filter: { org_id, mode, email_identity: email, _id: { $ne: _id } },
        update: { $unset: { email_identity: '' } },
      },
    },
    { updateOne: { filter: there, update: { $set: { email_identity: email } } } },
  ]);
  return customers.findOne(there);
}

/** Drops undefined fields, which would otherwise overwrite stored ones. */
function compact<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
