import type { Interaction } from './interaction.ts';
import { upserts } from './registration.ts';

/** Patient registry record revised (IHE ITI TF-2 §3.44.4.1). */
export const recordRevised: Interaction = {
	name: 'PRPA_IN201302UV02',
	meaning: 'revised',
	effect: 'As PRPA_IN201301UV02',
	changes: upserts,
};
