/** The API program with precomputed question vectors, to measure the search without the embedding models. */
import { startApi } from '../api/server.ts';
import { vectorsName } from '../clients/embedding/vectors.ts';
import { readConfig } from '../config.ts';
import { givenModel, numbersOf, questionParts } from './vectors.ts';

const api = await startApi(readConfig(process.env), (ctx) => ({
  ...ctx,
  search: {
    ...ctx.search,
    query: async (key, query) =>
      ctx.search.query(key, { ...query, meaning: query.meaning && { ...query.meaning, model: givenModel } }),
  },
  embedding: {
    ...ctx.embedding,
    model: vectorsName,
    question: async (text) => {
      const { text: about, asking } = numbersOf(text);
      return questionParts(about, asking);
    },
  },
}));
process.on('SIGTERM', () => void api.close().then(() => process.exit(0)));
process.send?.({ type: 'ready', url: api.url });
