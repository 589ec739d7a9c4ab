/** A frame as received; members that are not used are ignored. Types only. */
export type Frame = { type: string; seq: number } & Record<string, unknown>;
