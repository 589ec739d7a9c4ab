/** The commands of `docs`: upload documents and wait until they answer questions, list, tag and remove them. */
import type { Command } from 'commander';
import { Argument, Option } from 'commander';
import type { z } from 'zod';
import { identifier, list } from './arguments.ts';
import { allPages, type Client } from './client.ts';
import { CliError, errorJson } from './errors.ts';
import { shortTime, size, table } from './output.ts';
import type { Act, Session } from './session.ts';
import { addDocument, awaitedOf, processingError, waitFor, type Added, type Document } from './upload.ts';
import { documentList, documentReply, removedReply } from '../api/knowledge/contract/documents.ts';
import type { authority } from '../api/knowledge/contract/documents.ts';

type Authority = z.infer<typeof authority>;
const authorities = ['primary', 'normal', 'background'] as const satisfies readonly Authority[];

export function addDocumentCommands(program: Command, act: Act): void {
  const docs = program
    .command('docs')
    .description('upload, list, tag and delete documents, from which questions are answered');
  docs
    .command('add')
    .description('upload files (DOCX, TXT, MD, CSV, XLSX) and wait until they answer questions')
    .argument('<file...>', 'one or more files')
    .option('--segments <a,b>', 'tags that say who the documents are for; default everybody', list)
    .addOption(
      new Option('--authority <authority>', 'priority of the documents among all sources').choices(authorities),
    )
    .option('--wait', 'wait until they answer by meaning, too, and not by their words alone')
    .option('--no-wait', 'end as soon as they are uploaded')
    .action(act(addAll));
  docs.command('list').description('list all documents, newest first').action(act(listAll));
  docs
    .command('tag')
    .description('replace the segments of a document')
    .argument('<doc>', 'its identifier; docs list shows it', identifier)
    .argument('<segments>', 'separated by commas; "" removes all, so that it answers everybody')
    .action(
      act(async (session, docId: string, segments: string) => {
        await change(
          session,
          'PATCH',
          `${docId}/segments`,
          { segments: list(segments) },
          (d) => `${d.doc_id} is for: ${forWhom(d)}`,
        );
      }),
    );
  docs
    .command('authority')
    .description('set the priority of a document among all sources')
    .argument('<doc>', 'its identifier; docs list shows it', identifier)
    .addArgument(new Argument('<authority>').choices(authorities))
    .action(
      act(async (session, docId: string, authority: Authority) => {
        await change(session, 'PATCH', `${docId}/authority`, { authority }, (d) => `${d.doc_id} is ${d.authority}`);
      }),
    );
  docs
    .command('rm')
    .description('delete a document; it stops answering before the command ends')
    .argument('<doc>', 'its identifier; docs list shows it', identifier)
    .action(
      act(async ({ client, orgId, mode, output }, docId: string) => {
        const path = `/orgs/${await orgId()}/documents/${docId}`;
        const removed = await (await client()).request('DELETE', path, removedReply, { query: { mode } });
        output.result(removed, () => [`Deleted ${removed.doc_id}`]);
      }),
    );
  docs
    .command('reprocess')
    .description('process a document again and wait until it is done')
    .argument('<doc>', 'its identifier; docs list shows it', identifier)
    .option('--wait', 'wait until it answers by meaning, too, and not by its words alone')
    .option('--no-wait', 'end as soon as the request is accepted')
    .action(act(reprocess));
}

const forWhom = ({ segments }: Document): string => (segments.length === 0 ? 'everybody' : segments.join(', '));

async function change(
  session: Session,
  method: 'PATCH',
  path: string,
  body: unknown,
  line: (document: Document) => string,
): Promise<void> {
  const client = await session.client();
  const reply = await client.request(method, `/orgs/${await session.orgId()}/documents/${path}`, documentReply, {
    query: { mode: session.mode },
    body,
  });
  session.output.result(reply, () => [line(reply.document)]);
}

async function listAll({ client, orgId, mode, modeSeen, output }: Session): Promise<void> {
  const connected = await client();
  const path = `/orgs/${await orgId()}/documents`;
  const documents = await allPages(async (query) => {
    const { documents, cursor } = await connected.request('GET', path, documentList, { query: { ...query, mode } });
    return { entries: documents, cursor };
  });
  const seen = documents.length === 0 ? await modeSeen('list') : undefined;
  output.result({ documents, count: documents.length }, () =>
    documents.length === 0 ? ['There are no documents yet: add one with docs add.'] : documentTable(documents),
  );
  if (seen !== undefined) output.note(seen);
}

function documentTable(documents: readonly Document[]): string[] {
  const failures = documents.filter((d) => d.error !== undefined).map((d) => `${d.doc_id}: ${d.error}`);
  const rows = documents.map((d) => [
    d.doc_id,
    d.status,
    d.embedded_at === null ? '-' : shortTime(d.embedded_at),
    d.mode,
    d.authority,
    String(d.chunk_count),
    size(d.file_size),
    shortTime(d.created_at),
    d.segments.join(',') || '-',
    d.filename,
  ]);
  return [
    ...table(
      ['DOCUMENT', 'STATUS', 'BY MEANING', 'MODE', 'AUTHORITY', 'PASSAGES', 'SIZE', 'ADDED', 'SEGMENTS', 'NAME'],
      rows,
    ),
    ...failures,
  ];
}

/** Error codes after which every further file would fail too. */
const hopeless = new Set(['NO_SERVER', 'UNAUTHENTICATED', 'MISSING_SCOPE', 'NOT_FOUND']);

/**
 * Uploads one file after another. A failed file stops the others only if they would fail too (`hopeless`). The command
 * fails if one of the files failed.
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
