import { newId, nilId } from '#core/id.ts';
import type { IdentityEdit } from '#record/identity/edit.ts';
import { noSettings } from '#record/settings/settings.ts';
import { AdministrationError, type OperationContext } from './context.ts';

/**
 * Lets the site's writer carry out what a person decides about patients and studies. It goes through the site's mailbox, so that it keeps its
 * order among the site's other deliveries. Returns the id of its message.
 * @throws AdministrationError when it is refused
 */
export async function deliverIdentity(context: OperationContext, siteId: string, edit: IdentityEdit): Promise<string> {
	const receivedAtMs = context.nowMs();
	const id = newId(receivedAtMs);
	const { answer } = await context.deliver({
		id,
		kind: 'identity',
		siteId,
		clientId: nilId,
		surface: 'administration',
		source: context.actor.name,
		receivedAtMs,
		settings: noSettings,
		bytes: Buffer.from(JSON.stringify(edit)),
	});
	if (answer.kind === 'refused') throw new AdministrationError(answer.diagnostics);
	return id;
}
