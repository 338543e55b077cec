import { z } from 'zod';
import { newId, nilId } from '#core/id.ts';
import type { Hl7v2Delivery } from '#record/delivery.ts';
import { readSettings, type Settings, settingOf } from '#record/settings/settings.ts';
import type { IntegrationClient } from '#storage/entities/index.ts';
import { readMoving } from '#storage/statements/administrative/sites.ts';
import { clientMatch, matchClient } from '../client-match.ts';
import { AdministrationError, note, type OperationContext } from '../context.ts';
import { inForce } from '../settings.ts';
import type { Sender } from './pause-feed.ts';

export const testedFeed = z.strictObject({
	match: clientMatch.nullable().describe('tells if its address and names lead to it, as the ports decide; null for a key'),
	message_id: z
		.uuid()
		.nullable()
		.describe('the test message in the message log; null for a client of DICOM alone, to which no image is sent'),
	outcome: z.string().nullable().describe('ignored: it was taken, and changed nothing'),
	acknowledgement: z.string().nullable().describe('MSA-1 of the answer'),
	failure: z.string().nullable(),
	took_ms: z.number().nullable().describe('the time from handing it over to the answer, which follows the commit'),
});
export type TestedFeed = z.infer<typeof testedFeed>;

const event = 'A08';

/**
 * Sends a message through the mailbox, a worker and a commit of the site, as if its sender had sent it. It is ADT^A08 for training (MSH-11 is T)
 * and is taken and ignored by settings of its own, so it leaves a row of the message log, an event of the audit trail and no change of the record. It is
 * no traffic of the feed.
 */
export async function testFeed(context: OperationContext, { holder, entity }: Sender): Promise<TestedFeed> {
	const settings = holder === 'client' ? settingsOfClient(entity as IntegrationClient) : readSettings({});
	if (settingOf(readSettings(entity.settings), 'paused')) throw new AdministrationError('it is paused; resume it before you test it');
	const [moving] = await context.database.rows<{ slug: string; left: boolean | null; peer: string }>(readMoving, [entity.site.id]);
	if (moving?.left)
		throw new AdministrationError(`the site '${moving.slug}' was moved to the database ${moving.peer}; test it there`, 'conflict');
	const client = holder === 'client' ? (entity as IntegrationClient) : undefined;
	if (client !== undefined && !client.active) throw new AdministrationError('it is disabled; enable it before you test it');
	const match = client === undefined ? null : await matchClient(context, senderOf(client));
	const sends = client === undefined || client.protocols.includes('hl7-mllp');
	const nothing = { message_id: null, outcome: null, acknowledgement: null, failure: null, took_ms: null };
	if (!sends) return { match, ...nothing };
	const startedMs = context.nowMs();
	const delivery: Hl7v2Delivery = {
		id: newId(startedMs),
		kind: 'hl7v2',
		siteId: entity.site.id,
		clientId: client?.id ?? nilId,
		surface: 'administration',
		source: client === undefined ? entity.id : 'test',
		receivedAtMs: startedMs,
		settings: { ...settings, ignore: [event], processing_ids: ['T'] },
		bytes: Buffer.from(testMessage(client, startedMs)),
	};
	const { id, outcome, failure, answer } = await context.deliver(delivery);
	const [ack] = answer.acknowledgements;
	const code = ack === undefined ? undefined : /\rMSA\|([A-Z]{2})/.exec(Buffer.from(ack).toString('latin1'))?.[1];
	await note(context, { action: `${holder}.test`, subject: entity.id, siteId: entity.site.id, after: { message: id, outcome } });
	return {
		match,
		message_id: id,
		outcome,
		acknowledgement: code ?? null,
		failure: failure?.diagnostics ?? null,
		took_ms: context.nowMs() - startedMs,
	};
}

/** Returns the settings by which the messages of a client are read: its own, else those of its site. */
export function settingsOfClient(client: IntegrationClient): Settings {
	const held = Object.entries(inForce('client', client, client.site)).filter(([, { from }]) => from !== 'default' && from !== 'host');
	return readSettings(Object.fromEntries(held.map(([name, { value }]) => [name, value])));
}

/** Asks as its first address would. A range stands for its first address. */
function senderOf(client: IntegrationClient) {
	const [first = ''] = client.allowedIps;
	const address = first === '*' ? '127.0.0.1' : (first.split('/')[0] ?? '');
	if (client.protocols.includes('hl7-mllp')) {
		return { address, sending_application: client.sendingApplication ?? '', sending_facility: client.sendingFacility ?? '' };
	}
	return { address, called_ae: client.site.aeTitle ?? '', calling_ae: client.callingAe ?? '' };
}

function testMessage(client: IntegrationClient | undefined, nowMs: number): string {
	const at = `${new Date(nowMs).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}+0000`;
	const named = `${client?.sendingApplication || 'TRIBUTARY'}|${client?.sendingFacility || 'TEST'}`;
	return [
		`MSH|^~\\&|${named}|TRIBUTARY||${at}||ADT^${event}^ADT_A01|TEST${nowMs}|T|2.5.1`,
		`EVN|${event}|${at}`,
		'PID|1||TEST^^^TRIBUTARY||Test^Message',
		'PV1|1|N',
		'',
	].join('\r');
}
