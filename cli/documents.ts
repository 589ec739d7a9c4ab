/** Commands of `docs`: upload documents, or process one again, and wait until they answer questions. */
import type { Command } from 'commander';
import { Option } from 'commander';
import type { z } from 'zod';
import { identifier, list } from './arguments.ts';
import type { Client } from './client.ts';
import { CliError, errorJson } from './errors.ts';
import type { Act, Session } from './session.ts';
import { addDocument, awaitedOf, processingError, waitFor, type Added } from './upload.ts';
import { authority, documentReply } from '../api/knowledge/contract/documents.ts';

type Authority = z.infer<typeof authority>;

export function addDocumentCommands(program: Command, act: Act): void {
  const docs = program.command('docs');
  docs
    .command('add')
    .description('upload files (DOCX, TXT, MD, CSV, XLSX) and wait until they answer questions')
    .argument('<file...>', 'one or more files')
    .option('--segments <a,b>', 'tags that say who the documents are for; default everybody', list)
    .addOption(
      new Option('--authority <authority>', 'priority of the documents among all sources').choices(authority.options),
    )
    .option('--wait', 'wait until they are found by meaning, too, and not by their words alone')
    .option('--no-wait', 'end as soon as they are uploaded')
    .action(act(addAll));
  docs
    .command('reprocess')
    .description('process a document again and wait until it is done')
    .argument('<doc>', 'its identifier; docs list shows it', identifier)
    .option('--wait', 'wait until it is found by meaning, too, and not by its words alone')
    .option('--no-wait', 'end as soon as the request is accepted')
    .action(act(reprocess));
}

/** Error codes after which every further file would fail too. */
const hopeless = new Set(['NO_SERVER', 'UNAUTHENTICATED', 'MISSING_SCOPE', 'NOT_FOUND']);

/**
 * Uploads one file after another. After a `hopeless` failure, no further file is uploaded. The command fails if one of
 * the files failed.
 */
async function addAll(
  session: Session,
  files: string[],
  given: { segments?: string[]; authority?: Authority; wait?: boolean },
): Promise<void> {
  const target = { client: await session.client(), orgId: await session.orgId(), mode: session.mode };
  const results: Added[] = [];
  const { wait, ...tags } = given;
  for (const file of files) {
    const result = await addDocument(target, file, { ...tags, until: awaitedOf(wait) }, session.output);
    results.push(result);
    if (result.error && hopeless.has(result.error.code)) break;
  }
  const failed = results.filter(({ error }) => error !== undefined).length;
  const shown = results.map(({ error, ...r }) => ({ ...r, ok: !error, ...(error ? { error: errorJson(error) } : {}) }));
  session.output.result({ files: shown, added: results.length - failed, failed }, () => []);
  const last = results.at(-1)?.error;
  if (last && results.length < files.length) throw last;
  if (failed > 0) {
    throw new CliError(
      files.length === 1 ? 'The document was not added.' : `${failed} of ${files.length} documents were not added.`,
      { code: 'NOT_ADDED' },
    );
  }
}

async function reprocess(
  { client, orgId, mode, output }: Session,
  docId: string,
  { wait }: { wait?: boolean },
): Promise<void> {
  const connected: Client = await client();
  const org = await orgId();
  const path = `/orgs/${org}/documents/${docId}/reprocess`;
  const accepted = await connected.request('POST', path, documentReply, { query: { mode }, body: {} });
  const target = { client: connected, orgId: org, mode };
  const document = await waitFor(awaitedOf(wait), target, accepted.document, output);
  output.result({ document }, () => [
    `${document.doc_id} ${document.status === 'indexed' ? `is indexed: ${document.chunk_count} passages` : `is ${document.status}`}`,
  ]);
  if (document.status === 'failed') throw processingError(document);
}
