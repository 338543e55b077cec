import type { Interaction } from './interaction.ts';
import { upserts } from './registration.ts';

/** Patient registry record added (IHE ITI TF-2 §3.44.4.1). */
export const recordAdded: Interaction = {
	name: 'PRPA_IN201301UV02',
	meaning: 'added',
	effect: 'Patient created, or updated where its first id is known',
	changes: upserts,
};
