/** An event of the audit trail, with what FHIR shows of it. */
export interface TrailEvent {
	id: string;
	/** FHIR instant. */
	recorded: string;
	actor: string;
	/** The owner of the key, or the name of the client. */
	holder: string | null;
	/** An action such as `fhir.read`. */
	action: string;
	subject: string;
	source: string | null;
	detail: Readonly<Record<string, unknown>>;
	/** FHIR ids. */
	patients: readonly string[];
	/** Study Instance UIDs. */
	studies: readonly string[];
}

/** Reads the columns that every statement about the trail has last: action, subject, source, detail, patients and studies. */
export function trailCells(
	cells: readonly (string | null)[],
): Pick<TrailEvent, 'action' | 'subject' | 'source' | 'detail' | 'patients' | 'studies'> {
	const [action, subject, source, detail, patients, studies] = cells.slice(-6);
	return {
		...{ action: action ?? '', subject: subject ?? '', source: source ?? null },
		...{ detail: JSON.parse(detail ?? '{}'), patients: JSON.parse(patients ?? '[]'), studies: JSON.parse(studies ?? '[]') },
	};
}

export type ActionCode = 'C' | 'R' | 'U' | 'D' | 'E';

/** AuditEvent.action by the verb of an action. All others execute something: a search, an operation, a sign-in. */
export const verbsOfAction: Readonly<Record<Exclude<ActionCode, 'E'>, readonly string[]>> = {
	C: ['create', 'add'],
	R: ['read', 'vread', 'history', 'retrieve', 'c-get', 'c-move'],
	U: ['update', 'patch', 'set', 'enable', 'disable', 'settle', 'amend', 'complete', 'merge', 'unmerge', 'assign', 'move', 'split'],
	D: ['delete', 'remove', 'revoke'],
};

export function actionCodeOf(action: string): ActionCode {
	const verb = action.slice(action.indexOf('.') + 1);
	return (['C', 'R', 'U', 'D'] as const).find((code) => verbsOfAction[code].includes(verb)) ?? 'E';
}

/** AuditEvent.outcome: 0 success, 4 a fault of the caller, 8 a fault of the service. */
export function outcomeOf({ status }: Readonly<Record<string, unknown>>): '0' | '4' | '8' {
	const text = String(status ?? '');
	if (text === '' || /^[23]\d\d$|^0x(?:0|B...|FE00)/.test(text)) return '0';
	return text.startsWith('5') ? '8' : '4';
}

const dicom = 'http://dicom.nema.org/resources/ontology/DCM';
/** The roles of those who take part, as DICOM names them (PS3.16 CID 402). */
export const roles = {
	source: { code: '110153', display: 'Source Role ID' },
	destination: { code: '110152', display: 'Destination Role ID' },
} as const;
const entityTypes = 'http://terminology.hl7.org/CodeSystem/audit-entity-type';
const entityRoles = 'http://terminology.hl7.org/CodeSystem/object-role';
const balp = 'https://profiles.ihe.net/ITI/BALP';
const profiles: Readonly<Record<string, string>> = {
	'fhir.create': 'Create',
	'fhir.read': 'Read',
	'fhir.vread': 'Read',
	'fhir.search': 'Query',
	'fhir.update': 'Update',
	'fhir.patch': 'Update',
	'fhir.delete': 'Delete',
};
/** These actions are no codes of restful-interaction. */
const interactions: Readonly<Record<string, string>> = { 'fhir.search': 'search', 'fhir.history': 'history', 'fhir.transaction': 'batch' };

function coding(system: string, code: string, display: string): object {
	return { system, code, display };
}

/** Returns the kind of an event, as DICOM (PS3.16 CID 400) or FHIR name it. */
export function eventTypeOf(action: string): { system: string; code: string; display: string } {
	if (action.startsWith('fhir.'))
		return { system: 'http://terminology.hl7.org/CodeSystem/audit-event-type', code: 'rest', display: 'Restful Operation' };
	const known = (code: string, display: string) => ({ system: dicom, code, display });
	if (action.startsWith('session.')) return known('110114', 'User Authentication');
	if (/^(?:dicom\.c-find|dicomweb\.search|patient\.(?:search|match))$/.test(action)) return known('110112', 'Query');
	if (/^(?:dicom\.c-(?:get|move)|dicom\.association)$/.test(action)) return known('110104', 'DICOM Instances Transferred');
	if (/^(?:dicomweb\.retrieve|study\.read)$/.test(action)) return known('110103', 'DICOM Instances Accessed');
	if (action.startsWith('bulk.export')) return known('110106', 'Export');
	if (action.startsWith('bulk.import')) return known('110107', 'Import');
	if (/^(?:patient|message|report|mpps|conflict|identity)\./.test(action)) return known('110110', 'Patient Record');
	if (/^(?:mllp|dimse|http)\./.test(action)) return known('110113', 'Security Alert');
	return known('110100', 'Application Activity');
}

/** Renders an event as a resource by the profiles of IHE Basic Audit Log Patterns, where one of them is about it. */
export function auditEventOf(event: TrailEvent): object {
	const { id, recorded, actor, holder, action, subject, source, detail, patients, studies } = event;
	const name = profiles[action];
	const profile = name && `${balp}/StructureDefinition/IHE.BasicAudit.${patients.length === 1 ? 'Patient' : ''}${name}`;
	const isRead = name === 'Read';
	const role = (which: keyof typeof roles) => ({ coding: [coding(dicom, roles[which].code, roles[which].display)] });
	const interaction = action.startsWith('fhir.') ? (interactions[action] ?? action.slice(5)) : undefined;
	return {
		resourceType: 'AuditEvent',
		id,
		meta: { lastUpdated: recorded, ...(profile === undefined ? {} : { profile: [profile] }) },
		type: eventTypeOf(action),
		subtype: [
			...(interaction === undefined ? [] : [{ system: 'http://hl7.org/fhir/restful-interaction', code: interaction }]),
			{ system: 'urn:tributary:audit-action', code: action },
		],
		action: actionCodeOf(action),
		recorded,
		outcome: outcomeOf(detail),
		agent: [
			{
				type: role(isRead ? 'destination' : 'source'),
				who: { identifier: { value: actor }, display: holder ?? actor },
				requestor: true,
				...(source === null ? {} : { network: { address: source, type: '2' } }),
			},
			{ type: role(isRead ? 'source' : 'destination'), who: { display: 'Tributary' }, requestor: false },
		],
		source: {
			observer: { display: 'Tributary' },
			type: [coding('http://terminology.hl7.org/CodeSystem/security-source-type', '4', 'Application Server')],
		},
		entity: entitiesOf({ subject, action, detail, patients, studies }),
	};
}

function entitiesOf({
	subject,
	action,
	detail,
	patients,
	studies,
}: Pick<TrailEvent, 'subject' | 'action' | 'detail' | 'patients' | 'studies'>): object[] {
	const object = coding(entityTypes, '2', 'System Object');
	const isReference = /^[A-Z][A-Za-z]+\/[A-Za-z0-9\-.]{1,64}$/.test(subject);
	const isPatient = subject === `Patient/${patients[0]}`;
	const data = isReference
		? [{ what: { reference: subject }, type: object, role: coding(entityRoles, '4', 'Domain Resource') }]
		: [{ what: { display: subject }, type: object }];
	const asked = action === 'fhir.search' ? Buffer.from(`${subject}?${String(detail['parameters'] ?? '').replaceAll(',', '&')}`) : undefined;
	const request = detail['request'];
	return [
		...patients.map((id) => ({
			what: { reference: `Patient/${id}` },
			type: coding(entityTypes, '1', 'Person'),
			role: coding(entityRoles, '1', 'Patient'),
		})),
		...(asked === undefined
			? isPatient
				? []
				: data
			: [{ type: object, role: coding(entityRoles, '24', 'Query'), query: asked.toString('base64') }]),
		...studies.map((uid) => ({
			what: { identifier: { system: 'urn:dicom:uid', value: `urn:oid:${uid}` } },
			type: object,
			role: coding(entityRoles, '3', 'Report'),
		})),
		...(typeof request === 'string'
			? [
					{
						what: { identifier: { value: request } },
						type: coding(`${balp}/CodeSystem/BasicAuditEntityType`, 'XrequestId', 'X-Request-Id'),
					},
				]
			: []),
	];
}
