/** A frame as received from the server. Unused members are ignored. Types only. */
export type Frame = { type: string; seq: number } & Record<string, unknown>;
