/** All workflows, as a worker bundles them. */
export { eraseDocument, processDocument, retagDocument } from './document.ts';
export { maintainStores } from './maintenance.ts';
