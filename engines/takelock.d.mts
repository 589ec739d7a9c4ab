/** The content of a lock file: the holder's process, when that process started, and its later notes. */
export type Holder = { pid: number; started: string; id: string; stopping?: boolean };

export type Lock = { note(more: { stopping: true }): void; release(): void };

export function takeLock(path: string, wait: (holder: Holder) => void): Promise<Lock>;

export function isAlive(pid: number): boolean;
