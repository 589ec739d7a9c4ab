/**
 * Installs LocalStack (Python), which emulates Amazon SNS and S3 locally, for tests; test/kit/localstack.ts starts it.
 */
import type { Report } from './cache.ts';
import { findPython } from './python.ts';

/**
 * The path of a Python with LocalStack. Newer versions of LocalStack need a Python newer than 3.11, or a licence token.
 */
export const findLocalStack = (report: Report): Promise<string> =>
  findPython(
    {
      name: 'localstack-core',
      extras: ['base-runtime'],
      version: '4.9.0',
      // LocalStack allows any version of these packages, but some do not work.
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
