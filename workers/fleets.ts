/** All fleets by queue, collected from the slices. A fleet is one kind of worker process. */
import { slices } from './slices/index.ts';
import type { Fleet } from './slices/slice.ts';
import type { Queue } from '../models/rules/base/work.ts';

type Declared = (typeof slices)[number]['fleets'];
type FleetsOf<F> = F extends unknown ? keyof F : never;
export type FleetName = FleetsOf<Declared>;

/** A queue without a fleet is a type error. */
export const fleets: Readonly<Record<Queue, Fleet>> = Object.assign(
  {},
  ...slices.map((slice) => slice.fleets),
) as Record<FleetName, Fleet>;
export const fleetNames = Object.keys(fleets) as FleetName[];
