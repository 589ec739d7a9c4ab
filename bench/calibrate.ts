/**
 * `npm run calibrate`: computes intelligence/offline/language/classifier.json and models/rules/knowledge/relevance.json
 * again. For each set of questions it prints how good relevance.json is, and how good a calibration is that was fitted
 * on the other sets only. `npm run calibrate -- reading` computes only classifier.json,
 * `npm run calibrate -- relevance` only relevance.json. `npm run calibrate -- languages` computes
 * clients/embedding/languageshifts.json. `npm run calibrate -- tools` computes
 * intelligence/offline/mcp/fitting.json. `npm run calibrate -- meetings FOLDER` computes
 * intelligence/offline/meetings/firmness.json from labelled meetings, in the format of bench/meetings.ts.
 */
import { writeFile } from 'node:fs/promises';
import { readBanking, readFixtures, readServices } from './answersets.ts';
import { calibrateClassifiers } from './calibrate/classifiers.ts';
import { readCorpus, type Corpus, type Embed } from './calibrate/corpus.ts';
import {
  fit,
  heldOut,
  outcomeOf,
  report,
  samplesOf,
  withThresholds,
  writeCalibrations,
  type Sample,
  type View,
} from './calibrate/relevance.ts';
import { calibrateLanguages } from './calibrate/languages.ts';
import { calibrateTools, sentencesBy } from './calibrate/tools.ts';
import { readMeetings } from './meetings/data.ts';
import { fitFirmness } from './meetings/fit.ts';
import { centred } from '../clients/embedding/centring.ts';
import { createEmbedder, type Embedder } from '../clients/embedding/embedder.ts';
import { readingModels, widths } from '../clients/embedding/vectors.ts';
import { findEmbedding } from '../engines/embedding/embedding.ts';
import type { Calibration } from '../models/rules/knowledge/relevance.ts';

const path = 'models/rules/knowledge/relevance.json';
const embedded: View[] = [{ kind: 'embedded' }];
const endpoint: View[] = widths.map((_, part) => ({ kind: 'endpoint', part }));

async function withEmbedder<T>(work: (embedder: Embedder) => Promise<T>): Promise<T> {
  const embedder = createEmbedder({ folder: await findEmbedding((line) => console.log(`  ${line}`)) });
  try {
    return await work(embedder);
  } finally {
    await embedder.close();
  }
}

async function readCorpora(): Promise<Corpus[]> {
  const banking = await readBanking();
  const services = await readServices();
  if (banking === undefined || services === undefined) process.exit(1);
  return withEmbedder(async (embedder) => {
    const embed: Embed = {
      async question(text) {
        const [made] = await embedder.embed([{ kind: 'question', text }]);
        const vector = centred(made!, { kind: 'question', text });
        let from = 0;
        return widths.map((width) => vector.slice(from, (from += width)));
      },
      passages: async (texts) => {
        const vectors = await embedder.embed(texts.map(({ heading, text }) => ({ kind: 'passage', heading, text })));
        return vectors.map((vector, at) => centred(vector, { kind: 'passage', text: texts[at]!.text }));
      },
    };
    const corpora: Corpus[] = [];
    for (const set of [banking, services, await readFixtures()]) corpora.push(await readCorpus(set, embed));
    return corpora;
  });
}

function calibrate(title: string, samples: readonly Sample[], views: readonly View[]): Calibration {
  const outcomes = heldOut(samples, views);
  const { calibration, english, others } = withThresholds(fit(samples, views), outcomes);
  console.log(`${title}: ${JSON.stringify(calibration)}`);
  console.log('  questions of intents held out, eight folds');
  report(outcomes, english, others);
  return calibration;
}

/** Measures on each set a calibration that was fitted, with its thresholds, on all other sets. */
function transfer(corpora: readonly Corpus[], views: readonly View[]): void {
  for (const corpus of corpora) {
    const others = samplesOf(corpora.filter((other) => other !== corpus));
    const { calibration } = withThresholds(fit(others, views), heldOut(others, views));
    console.log(`  ${corpus.name}, from the others alone: ${JSON.stringify(calibration)}`);
    report(
      views.flatMap((view) => samplesOf([corpus]).flatMap((sample) => outcomeOf(sample, view, calibration) ?? [])),
      calibration,
      calibration,
    );
  }
}

const calibrateReading = (): Promise<void> =>
  withEmbedder((embedder) =>
    calibrateClassifiers(async (texts) =>
      embedder.embed(
        texts.map((text) => ({ kind: 'question', text })),
        { models: readingModels, patient: true },
      ),
    ),
  );

if (process.argv[2] === 'tools') {
  await withEmbedder((embedder) => calibrateTools(sentencesBy(embedder)));
  process.exit();
}
if (process.argv[2] === 'languages') {
  await withEmbedder((embedder) => calibrateLanguages(async (texts) => embedder.embed(texts, { models: ['me5'] })));
  process.exit();
}
if (process.argv[2] === 'meetings') {
  const firmness = fitFirmness(await readMeetings(process.argv[3] ?? ''));
  await writeFile('intelligence/offline/meetings/firmness.json', `${JSON.stringify(firmness, null, 2)}\n`);
  process.exit();
}
if (process.argv[2] === undefined || process.argv[2] === 'reading') await calibrateReading();
if (process.argv[2] === 'reading') process.exit();
const corpora = await readCorpora();
const samples = samplesOf(corpora);
const calibrations = {
  embedded: calibrate('embedded models', samples, embedded),
  endpoint: calibrate('each of them in the place of an unknown model', samples, endpoint),
};
transfer(corpora, embedded);
transfer(corpora, endpoint);
await writeCalibrations(path, calibrations);
console.log(`${path} is written.`);
