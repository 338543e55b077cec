import { Failure } from '#core/failure.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import type { Interaction, ResourceDefinition } from '../resource.ts';

/** @throws Failure `method-not-allowed` when the type, or the site, does not let clients write it */
export function requireAllowed({ type, interactions, writtenIf }: ResourceDefinition, interaction: Interaction, settings: Settings): void {
	const allow = { allow: 'GET, HEAD' };
	if (!interactions.includes(interaction)) throw new Failure('method-not-allowed', `${type} cannot be written through FHIR`, allow);
	if (writtenIf !== undefined && !settingOf(settings, writtenIf)) {
		throw new Failure(
			'method-not-allowed',
			`${type} is only read at this site; the setting ${writtenIf} of the site lets clients write it`,
			allow,
		);
	}
}
