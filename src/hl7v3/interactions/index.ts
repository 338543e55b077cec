import type { Interaction } from './interaction.ts';
import { recordAdded } from './prpa-in201301uv02.ts';
import { recordRevised } from './prpa-in201302uv02.ts';
import { duplicatesResolved } from './prpa-in201304uv02.ts';

/** Every interaction that is understood. A further one is a file and a row here. */
export const interactions: readonly Interaction[] = [recordAdded, recordRevised, duplicatesResolved];

const byName: ReadonlyMap<string, Interaction> = new Map(interactions.map((interaction) => [interaction.name, interaction]));

export function interactionOf(name: string): Interaction | undefined {
	return byName.get(name);
}
