/** What travels about modes. Zod only. */
import { z } from 'zod';
import { modes } from '../../../models/rules/access/keys.ts';

export const mode = z.enum(modes);

/** Spec 4.8: reads of the whole organization take a mode. Without one, a member gets both modes and a key its own. */
export const modeQuery = z.object({
  mode: mode.optional(),
  environment: mode.optional().meta({ description: 'The same as `mode`, which counts where both are sent.' }),
});
