/** What the page `/app` stores in this browser. */
import { createStore } from '../../live/store.ts';

export const kept = createStore(() => localStorage, 'support-app:');
