import { actionCodeOf, eventTypeOf, outcomeOf, roles, type TrailEvent } from '#fhir/audit-event.ts';

/** An event as it is sent. */
export interface SentEvent extends Omit<TrailEvent, 'holder'> {
	/** The slug; null for an event of no site. */
	site: string | null;
}

const special: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Control characters cannot stand in XML 1.0 and have no meaning here. */
function escaped(text: string): string {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that XML 1.0 forbids
	return text.replace(/[\u0000-\u001f\ufffe\uffff]/g, ' ').replace(/[&<>"]/g, (character) => special[character] ?? '');
}

function element(name: string, attributes: Readonly<Record<string, string | undefined>>, content = ''): string {
	const written = Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : ` ${key}="${escaped(value)}"`));
	return content === '' ? `<${name}${written.join('')}/>` : `<${name}${written.join('')}>${content}</${name}>`;
}

function code(name: string, value: string, system: string, text: string): string {
	return element(name, { 'csd-code': value, codeSystemName: system, originalText: text });
}

/** FHIR names its interactions differently; DICOM has an event for them (PS3.16 CID 400). */
function eventIdOf(action: string): { code: string; display: string } {
	if (action === 'fhir.search') return { code: '110112', display: 'Query' };
	return action.startsWith('fhir.') ? { code: '110110', display: 'Patient Record' } : eventTypeOf(action);
}

/** Writes an event by the audit message schema of DICOM (PS3.15 §A.5.1). */
export function auditMessage(event: SentEvent, host: string): string {
	const { action, actor, source, patients, studies, subject, detail, site, recorded, id } = event;
	const eventId = eventIdOf(action);
	const isRead = actionCodeOf(action) === 'R';
	const role = (which: keyof typeof roles) => code('RoleIDCode', roles[which].code, 'DCM', roles[which].display);
	const participant = (
		ParticipantObjectID: string,
		type: string,
		objectRole: string | undefined,
		[value, text]: readonly [string, string],
	) =>
		element(
			'ParticipantObjectIdentification',
			{ ParticipantObjectID, ParticipantObjectTypeCode: type, ParticipantObjectTypeCodeRole: objectRole },
			code('ParticipantObjectIDTypeCode', value, value.startsWith('11') ? 'DCM' : 'RFC-3881', text) +
				element('ParticipantObjectDetail', { type: 'event', value: Buffer.from(id).toString('base64') }),
		);
	return [
		'<?xml version="1.0" encoding="UTF-8"?><AuditMessage>',
		element(
			'EventIdentification',
			{ EventActionCode: actionCodeOf(action), EventDateTime: recorded, EventOutcomeIndicator: outcomeOf(detail) },
			code('EventID', eventId.code, 'DCM', eventId.display) + code('EventTypeCode', action, 'Tributary', action),
		),
		element(
			'ActiveParticipant',
			{
				UserID: actor,
				UserIsRequestor: 'true',
				NetworkAccessPointID: source ?? undefined,
				NetworkAccessPointTypeCode: source === null ? undefined : '2',
			},
			role(isRead ? 'destination' : 'source'),
		),
		element('ActiveParticipant', { UserID: 'Tributary', UserIsRequestor: 'false' }, role(isRead ? 'source' : 'destination')),
		element(
			'AuditSourceIdentification',
			{ AuditEnterpriseSiteID: site ?? undefined, AuditSourceID: host },
			code('AuditSourceTypeCode', '4', 'DCM', 'Application Server'),
		),
		...patients.map((patient) => participant(patient, '1', '1', ['2', 'Patient Number'])),
		...studies.map((study) => participant(study, '2', '3', ['110180', 'Study Instance UID'])),
		participant(subject, '2', undefined, ['12', 'URI']),
		'</AuditMessage>',
	].join('');
}

/** Facility 10, security messages; severity 5, notice (RFC 5424 §6.2.1). */
const priority = 10 * 8 + 5;

/** Frames a message by counting its octets (RFC 5425 §4.3, RFC 5424). The byte order mark says that it is UTF-8. */
export function syslogFrame(event: SentEvent, host: string): Buffer {
	const head = `<${priority}>1 ${event.recorded} ${host} tributary ${process.pid} DICOM+RFC3881 - `;
	const message = Buffer.from(`${head}\ufeff${auditMessage(event, host)}`);
	return Buffer.concat([Buffer.from(`${message.length} `), message]);
}
