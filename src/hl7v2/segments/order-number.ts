import { createHash } from 'node:crypto';
import { authoritySystem } from '#fhir/mapping/authority.ts';
import type { Message } from '../message.ts';
import { keyLengthMax } from './context.ts';
import type { EntityIdentifier } from './datatypes/ei.ts';

/**
 * The sending application (MSH-3) at its facility (MSH-4), within which an order number that names no authority is
 * unique (v2.5.1 §4.5.1.2 and §4.5.3.3). '' when MSH names neither.
 */
export function sendingApplication(message: Message): string {
	const header = message.first('MSH');
	const named = (field: number) =>
		encodeURIComponent(header ? authoritySystem(header.text(field), header.text(field, 2), header.text(field, 3)) : '');
	const [application, facility] = [named(3), named(4)];
	if (application === '' && facility === '') return '';
	const sender = `${application} ${facility}`;
	return `MSH ${sender.length <= keyLengthMax ? sender : createHash('sha256').update(sender).digest('hex')}`;
}

/**
 * Returns the key of an order for its observations: the filler's number, else the placer's. A word and a space, which no authority's URI
 * has, mark the
 * kind: so a placer's number is never taken for a filler's, nor an application for an authority.
 */
export function orderKeyOf(
	filler: EntityIdentifier | undefined,
	placer: EntityIdentifier | undefined,
	sender: string,
): EntityIdentifier | undefined {
	if (filler !== undefined) return { system: filler.system || sender, value: filler.value };
	return placer && { system: `placer ${placer.system || sender}`, value: placer.value };
}
