/** The part of sns-validator, which ships no types, that test/events/oracles.test.ts uses. */
declare module 'sns-validator' {
  export default class MessageValidator {
    constructor(hostPattern?: RegExp, encoding?: string);
    validate(message: Record<string, unknown> | string, done: (error: Error | null) => void): void;
  }
}
