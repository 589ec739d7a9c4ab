/** Obtains LocalStack (Python), which stands for Amazon SNS and S3 on this machine. Tests only; test/kit/localstack.ts starts it. */
import type { Report } from './cache.ts';
import { findPython } from './python.ts';

/** The path of a Python that has it. Newer versions need a newer Python than 3.11, or a token of their makers. */
export const findLocalStack = (report: Report): Promise<string> =>
  findPython(
    {
      name: 'localstack-core',
      extras: ['base-runtime'],
      version: '4.9.0',
      // It says of these only that any version will do, and some do not.
      beside: [
        'moto-ext[s3,sns,ses]==5.1.12.post22',
        'service_identity==24.2.0',
        'cryptography<47',
        'pyopenssl==25.3.0',
        'cbor2<6',
      ],
      fromSource: ['tailer'],
      program: 'python',
      check: ['-c', 'import localstack.runtime.main, moto.s3, moto.sns, OpenSSL'],
      purpose: 'The tests of mail that comes by Amazon SNS',
    },
    report,
  );
