import { z } from 'zod';
import { modes } from '../../../models/rules/access/keys.ts';

export const mode = z.enum(modes);

/**
 * Spec 4.8: a request that reads the whole organization may name a mode. Without one, a member sees both modes, and a
 * key sees its own.
 */
export const modeQuery = z.object({
  mode: mode.optional(),
  environment: mode.optional().meta({ description: 'The same as `mode`, which counts where both are sent.' }),
});
