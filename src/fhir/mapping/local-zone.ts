import { isUtc, type LocalKind, localOffset } from '#core/time-zone.ts';
import type { ChangeSet } from '#record/change-set.ts';
import type { Flag } from '#record/flag.ts';
import { readingSettings, type Settings } from '#record/settings/settings.ts';

/** The zone of a sender: its setting `time_zone`, or that of the host where nobody has set one. */
export interface SenderZone {
	name: string;
	/** Nobody has said it. */
	isAssumed: boolean;
}

/**
 * Reads the local times of one message: those without an offset. It knows afterwards whether there were any, and which of them a change of
 * clocks made uncertain.
 */
export class LocalZone {
	readonly zone: SenderZone;
	#isUsed = false;
	readonly #uncertain = new Set<LocalKind>();

	constructor(zone: SenderZone) {
		this.zone = zone;
	}

	/** True when the message had a local time. */
	get isUsed(): boolean {
		return this.#isUsed;
	}

	/** `local` is `YYYY-MM-DDThh:mm:ss`. The answer has an offset; in a gap it is moved by the length of the gap. */
	complete(local: string, fraction: string): string {
		this.#isUsed = true;
		const ms = Date.parse(`${local}Z`);
		const { kind, minutes, moved } = localOffset(this.zone.name, ms);
		if (kind !== 'plain') this.#uncertain.add(kind);
		const existing = moved === 0 ? local : new Date(ms + moved * 60_000).toISOString().slice(0, 19);
		return `${existing}${fraction}${textOf(this.zone.name, minutes)}`;
	}

	/** The flags tell people about the local times of the message. */
	flags(): Flag[] {
		const { name, isAssumed } = this.zone;
		if (!this.#isUsed) return [];
		const flags: Flag[] = [];
		if (isAssumed) {
			const text = `times without an offset were read in ${name}, the zone of this host: neither the sender nor its site has a time zone`;
			flags.push({ code: 'time-zone-assumed', text });
		}
		if (this.#uncertain.has('gap')) {
			const text = `a local time does not exist in ${name}, where clocks were put forward; it was moved by as much`;
			flags.push({ code: 'uncertain-time', text });
		}
		if (this.#uncertain.has('fold')) {
			const text = `a local time comes twice in ${name}, where clocks were put back; the first was taken`;
			flags.push({ code: 'uncertain-time', text });
		}
		return flags;
	}
}

/** The offset for times without one: that of the message itself, else the zone of its sender. */
export type Zone = string | LocalZone;

/** `+05:30` */
export function offsetText(minutes: number): string {
	const size = Math.abs(minutes);
	const two = (number: number) => String(number).padStart(2, '0');
	return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** Returns the offset of a local time that is kept as it is. In a gap it is that before the gap, which means the same moment. */
export function offsetAt(zone: string, local: string): string {
	const { minutes, moved } = localOffset(zone, Date.parse(`${local.slice(0, 19)}Z`));
	return textOf(zone, minutes - moved);
}

function textOf(zone: string, minutes: number): string {
	return minutes === 0 && isUtc(zone) ? 'Z' : offsetText(minutes);
}

/** Completes a date and time that may lack an offset. */
export function completed(local: string, fraction: string, zone: Zone): string {
	return typeof zone === 'string' ? `${local}${fraction}${zone}` : zone.complete(local, fraction);
}

/** The zone of a sender. `hostTimeZone` is what is assumed while nobody has said another. */
export function senderZone({ time_zone: name }: Settings, hostTimeZone: string): SenderZone {
	return name === undefined ? { name: hostTimeZone, isAssumed: true } : { name, isAssumed: false };
}

/** A message is read by its bytes, the settings of its sender and the zone of the machine. */
export interface Reading {
	settings: Settings;
	hostTimeZone: string;
}

/** Returns the zone of a message. `stated` is the offset that its header has. */
export function messageZone(stated: string | undefined, { settings, hostTimeZone }: Reading): Zone {
	return stated ?? new LocalZone(senderZone(settings, hostTimeZone));
}

/** Completes what a message comes to: with the flags of its local times, and the settings by which it was read. */
export function readIn(zone: Zone, settings: Settings, changeSet: ChangeSet): ChangeSet {
	const local = zone instanceof LocalZone ? zone : undefined;
	if (local !== undefined) changeSet.flags.push(...local.flags());
	const readBy = readingSettings(settings, local?.isUsed ? local.zone.name : undefined);
	return readBy === undefined ? changeSet : { ...changeSet, readBy };
}
