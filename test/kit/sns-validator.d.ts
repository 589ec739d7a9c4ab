/** The part of sns-validator that test/events/oracles.test.ts uses. The package has no types. */
declare module 'sns-validator' {
  export default class MessageValidator {
    constructor(hostPattern?: RegExp, encoding?: string);
    validate(message: Record<string, unknown> | string, done: (error: Error | null) => void): void;
  }
}
