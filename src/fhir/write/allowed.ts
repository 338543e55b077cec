import { Failure } from '#core/failure.ts';
import { type Settings, settingOf } from '#record/settings/settings.ts';
import { deleteSetting, type Interaction, type ResourceDefinition } from '../resource.ts';

/** What a client wants to do: to a type, or to the resource that the URL names. */
export interface Wish {
	interaction: Interaction;
	isOfInstance: boolean;
}

/** @throws Failure `method-not-allowed` when the type, or the site, does not let clients do it */
export function requireAllowed(definition: ResourceDefinition, { interaction, isOfInstance }: Wish, settings: Settings): void {
	const { type, interactions, writtenIf } = definition;
	const isWritable = interactions.includes('update') && (writtenIf === undefined || settingOf(settings, writtenIf));
	const allow = { allow: isWritable ? `GET, HEAD, PATCH, ${isOfInstance ? '' : 'POST, '}PUT` : 'GET, HEAD' };
	if (interaction === 'delete') {
		if (!interactions.includes(interaction))
			throw new Failure('method-not-allowed', `${type} cannot be deleted: clinical resources are kept`, allow);
		if (settingOf(settings, deleteSetting)) return;
		const hint = `the setting ${deleteSetting} of the site lets clients delete`;
		throw new Failure('method-not-allowed', `${type} cannot be deleted at this site; ${hint}`, allow);
	}
	if (!interactions.includes(interaction)) throw new Failure('method-not-allowed', `${type} cannot be written through FHIR`, allow);
	if (!isWritable) {
		throw new Failure(
			'method-not-allowed',
			`${type} is only read at this site; the setting ${writtenIf} of the site lets clients write it`,
			allow,
		);
	}
}
