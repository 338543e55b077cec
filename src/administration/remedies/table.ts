import type { FailureLocation } from '#core/failure.ts';
import { nilId } from '#core/id.ts';
import { defaultsOf } from '#core/limit-definition.ts';
import { isTimeZone } from '#core/time-zone.ts';
import { eventOf } from '#hl7v2/events/index.ts';
import { openHeader } from '#hl7v2/head.ts';
import { processingCodeOf } from '#hl7v3/header.ts';
import { receive } from '#hl7v3/interpret.ts';
import { xmlLimitDefinitions } from '#hl7v3/limits.ts';
import type { DeliveryKind } from '#record/delivery.ts';
import type { Holder } from '#record/settings/definition.ts';
import { definitionOf, type SettingName, type Settings, settingOf } from '#record/settings/settings.ts';

/** A message to be mended, with what decides how. */
export interface Mendable {
	id: string;
	site: string;
	clientId: string;
	source: string;
	kind: DeliveryKind | null;
	messageType: string;
	outcome: string;
	code: string | null;
	text: string;
	flags: readonly string[];
	location: FailureLocation | undefined;
	/** The settings that hold for its sender now. */
	settings: Settings;
	bytes: Uint8Array;
}

/** The holder of the setting that a remedy changes. */
export interface Subject {
	of: Holder;
	/** The slug of the site, or the id of the client or key. */
	id: string;
}

interface OfSetting {
	kind: 'setting';
	/** Returns the settings that change; undefined when the given value is none. */
	settings(message: Mendable, value: string): Settings | undefined;
	/** Set when a person has to say a value. */
	asks?: string;
}

interface OfPlace {
	kind: 'place';
	/** The screen of the console where it is done. */
	href(message: Mendable): string;
}

export type Remedy = (OfSetting | OfPlace) & {
	fits(message: Mendable): boolean;
	title(message: Mendable): string;
	/** Says in one sentence what it does. */
	effect: string;
};

const isTyped = ({ messageType }: Mendable) => /^[A-Z\d]{3}\^[A-Z]\d\d$/.test(messageType);
const triggerOf = ({ messageType }: Mendable) => messageType.slice(messageType.indexOf('^') + 1);
const refusedFor = ({ code }: Mendable, ...codes: string[]) => code !== null && codes.includes(code);
const namesSetting = ({ text }: Mendable, name: SettingName) => text.includes(`the setting ${name} `);
const with1 = (held: readonly string[], one: string) => [...new Set([...held, one])];

/** Returns MSH-11 or processingCode if it is a processing id that could be taken. */
function processingIdOf({ kind, bytes }: Mendable): string | undefined {
	const id = kind === 'hl7v3' ? processingCodeOf(receive(bytes, defaultsOf(xmlLimitDefinitions)).message) : processingIdOfHeader(bytes);
	return /^[A-Z]$/.test(id) ? id : undefined;
}

function processingIdOfHeader(bytes: Uint8Array): string {
	const header = openHeader(bytes);
	const [id = ''] = header?.line.split(header.delimiters.field)[10]?.split(header.delimiters.component) ?? [];
	return id.trim().toUpperCase();
}

/** The remedies, the likeliest first. */
export const remedies = {
	'accept-event': {
		kind: 'setting',
		fits: (message) => {
			const event = message.kind === 'hl7v2' && refusedFor(message, 'unsupported-event') ? eventOf(message.messageType) : undefined;
			return event !== undefined && !event.always && !settingOf(message.settings, 'also').includes(triggerOf(message));
		},
		title: (message) => `Accept ${message.messageType} from this sender`,
		effect: 'The event joins the additional events of the sender.',
		settings: (message) => ({ also: with1(settingOf(message.settings, 'also'), triggerOf(message)) }),
	},
	'ignore-event': {
		kind: 'setting',
		fits: (message) => message.kind === 'hl7v2' && refusedFor(message, 'unsupported-event', 'unsupported-message-type') && isTyped(message),
		title: (message) => `Ignore ${message.messageType} from this sender`,
		effect: 'Such messages are answered AA and logged from now on, and change nothing.',
		settings: (message) => ({ ignore: with1(settingOf(message.settings, 'ignore'), message.messageType) }),
	},
	'accept-processing-id': {
		kind: 'setting',
		fits: (message) => refusedFor(message, 'unsupported-processing-id') && processingIdOf(message) !== undefined,
		title: (message) => `Take messages with the processing id ${processingIdOf(message) ?? ''} from this sender`,
		effect: 'Messages for training or debugging then become part of the record like any other.',
		settings: (message) => {
			const id = processingIdOf(message);
			return id === undefined ? undefined : { processing_ids: with1(settingOf(message.settings, 'processing_ids'), id) };
		},
	},
	'leave-out-results': {
		kind: 'setting',
		fits: ({ kind, outcome, location, settings }) =>
			kind === 'hl7v2' && outcome === 'refused' && location?.segment === 'OBX' && settingOf(settings, 'results') === 'all',
		title: () => 'Store the other results of such messages',
		effect: 'A result that cannot be read is left out and named in the answer; the others are stored.',
		settings: () => ({ results: 'partial' }),
	},
	'lenient-uids': {
		kind: 'setting',
		fits: ({ text, settings }) => text.includes('leading zeros') && settingOf(settings, 'uids') === 'strict',
		title: () => 'Take UIDs with leading zeros from this sender',
		effect: 'Such a UID is accepted as it is sent.',
		settings: () => ({ uids: 'lenient' }),
	},
	'clients-write-reports': {
		kind: 'setting',
		fits: (message) => namesSetting(message, 'report_writes'),
		title: () => 'Let clients of this site write reports and studies',
		effect: 'FHIR clients of the site may write DiagnosticReport and ImagingStudy from now on.',
		settings: () => ({ report_writes: true }),
	},
	'clients-delete': {
		kind: 'setting',
		fits: (message) => namesSetting(message, 'deletes'),
		title: () => 'Let clients of this site delete resources',
		effect: 'FHIR clients of the site may delete resources from now on; their versions are kept.',
		settings: () => ({ deletes: true }),
	},
	'set-time-zone': {
		kind: 'setting',
		fits: ({ flags }) => flags.includes('time-zone-assumed'),
		title: () => 'Set the time zone of this sender',
		effect:
			'From now on, times that arrive without an offset are read by this zone. “Read stored times anew…” corrects what is already stored.',
		asks: 'IANA name, such as Europe/Berlin',
		settings: (_message, value) => (isTimeZone(value) ? { time_zone: value } : undefined),
	},
	'extend-client': {
		kind: 'place',
		fits: (message) => refusedFor(message, 'sender-not-authorized'),
		title: () => 'Add the address, MSH-3 and MSH-4 or AE title to the client',
		effect: 'The page of the client says from where it may send, and what it may do.',
		href: ({ clientId, site }) => (clientId === nilId ? `/clients?site=${site}` : `/clients/${clientId}`),
	},
	'join-authorities': {
		kind: 'place',
		fits: (message) => refusedFor(message, 'ambiguous-key', 'key-conflict'),
		title: () => 'Name one authority, or merge the patients',
		effect: 'Identity lists the patients with this number. Join two names of one authority, or merge the patients, so that one is left.',
		href: ({ site }) => `/identity?site=${site}`,
	},
	'link-study': {
		kind: 'place',
		fits: ({ flags }) => flags.some((flag) => ['other-patient', 'unmatched-study'].includes(flag)),
		title: () => 'Link the images to their patient or study',
		effect: 'On the page of a study you can give it to a patient, or move its images.',
		href: ({ site }) => `/studies?site=${site}`,
	},
} as const satisfies Readonly<Record<string, Remedy>>;

export type RemedyName = keyof typeof remedies;
export const remedyNames = Object.keys(remedies) as RemedyName[];

export function remedyOf(name: RemedyName): Remedy {
	return remedies[name];
}

export function remediesFor(message: Mendable): RemedyName[] {
	return remedyNames.filter((name) => remedies[name].fits(message));
}

/** Returns whose settings are changed: the sender's, where a sender may have them; else those of the site. */
export function subjectOf({ clientId, kind, source, site }: Mendable, changed: Settings): Subject {
	const all = (holder: Holder) => Object.keys(changed).every((name) => definitionOf(name as SettingName).of.includes(holder));
	if (clientId !== nilId && all('client')) return { of: 'client', id: clientId };
	if (clientId === nilId && kind !== 'instance' && source !== '' && all('key')) return { of: 'key', id: source };
	return { of: 'site', id: site };
}
