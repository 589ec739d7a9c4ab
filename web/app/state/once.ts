/** What this browser remembers for a member. */
import { createStore } from '../../live/store.ts';

export const kept = createStore(() => localStorage, 'support-app:');
