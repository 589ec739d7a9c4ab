/** Fields that may be left out: those whose type includes undefined. */
type Optional<T> = { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> };
/** Fields that are always given. */
type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] };

/** Removes the fields whose value is undefined. Otherwise the MongoDB driver, for example, would store them as null. */
export const defined = <T extends object>(fields: T): Optional<T> & Given<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Optional<T> & Given<T>;
