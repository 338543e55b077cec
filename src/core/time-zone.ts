/**
 * How far the local time of a zone is from UTC, by the database of time zones that Node.js brings. Intl is asked a few dozen times for a
 * zone and a year; after that an answer is a look at two or three numbers.
 */

/** `gap`: clocks are put forward over this local time. `fold`: clocks are put back, so it comes twice. */
export type LocalKind = 'plain' | 'gap' | 'fold';

export interface LocalOffset {
	kind: LocalKind;
	/** Minutes east of UTC. In a fold those of the first occurrence, in a gap those after it. */
	minutes: number;
	/** In a gap, the minutes by which the local time is moved to exist: the length of the gap, as java.time does. Otherwise 0. */
	moved: number;
}

interface Change {
	/** Local times from here until `toMs` are in a gap or a fold. */
	fromMs: number;
	toMs: number;
	within: LocalOffset;
	behind: LocalOffset;
}

interface Year {
	first: LocalOffset;
	changes: readonly Change[];
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Years beyond have the first or the last offset of these, so that a message cannot make the tables grow. */
const firstYear = 1900;
const lastYear = 2199;

const zones = new Map<string, Map<number, Year>>();

/** True for a name of the IANA database, such as Europe/Berlin, or UTC. */
export function isTimeZone(name: string): boolean {
	if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name)) return false;
	try {
		return new Intl.DateTimeFormat('en-US', { timeZone: name }).format(0) !== '';
	} catch {
		return false;
	}
}

/** The zone of the machine on which this process runs. */
export function hostTimeZone(): string {
	return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** True for a zone whose local time is UTC, and is called so. */
export function isUtc(zone: string): boolean {
	return /^(?:Etc\/)?(?:UTC|UCT|Universal|Zulu)$/i.test(zone);
}

/** `localMs` is the local time as if it were UTC. */
export function localOffset(zone: string, localMs: number): LocalOffset {
	const { first, changes } = yearOf(zone, new Date(localMs).getUTCFullYear());
	let offset = first;
	for (const change of changes) {
		if (localMs < change.fromMs) return offset;
		if (localMs < change.toMs) return change.within;
		offset = change.behind;
	}
	return offset;
}

function yearOf(zone: string, given: number): Year {
	const year = Math.min(Math.max(given, firstYear), lastYear);
	const years = zones.get(zone) ?? new Map<number, Year>();
	zones.set(zone, years);
	const held = years.get(year);
	if (held !== undefined) return held;
	const made = readYear(zone, year);
	years.set(year, made);
	return made;
}

/** Looks for changes week by week: no zone changes its offset twice within one. */
function readYear(zone: string, year: number): Year {
	const offsetAt = offsetReader(zone);
	const end = Date.UTC(year + 1, 0, 3);
	let fromMs = Date.UTC(year, 0, 1) - 2 * dayMs;
	let before = offsetAt(fromMs);
	const first = plain(before);
	const changes: Change[] = [];
	while (fromMs < end) {
		const toMs = Math.min(fromMs + 7 * dayMs, end);
		const after = offsetAt(toMs);
		if (after !== before) changes.push(changeAt(momentOfChange(offsetAt, fromMs, toMs), before, after));
		before = after;
		fromMs = toMs;
	}
	return { first, changes };
}

function plain(minutes: number): LocalOffset {
	return { kind: 'plain', minutes, moved: 0 };
}

function changeAt(atMs: number, before: number, after: number): Change {
	const isGap = after > before;
	return {
		fromMs: atMs + Math.min(before, after) * minuteMs,
		toMs: atMs + Math.max(before, after) * minuteMs,
		within: isGap ? { kind: 'gap', minutes: after, moved: after - before } : { kind: 'fold', minutes: before, moved: 0 },
		behind: plain(after),
	};
}

/** The first second of the new offset, between two moments that differ in it. */
function momentOfChange(offsetAt: (ms: number) => number, fromMs: number, toMs: number): number {
	const before = offsetAt(fromMs);
	let [low, high] = [fromMs / 1000, toMs / 1000];
	while (high - low > 1) {
		const middle = Math.floor((low + high) / 2);
		if (offsetAt(middle * 1000) === before) low = middle;
		else high = middle;
	}
	return high * 1000;
}

/** Offsets of the time before standard time have seconds, which no offset of HL7, FHIR or DICOM can have. */
function offsetReader(zone: string): (ms: number) => number {
	const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
	return (ms) => {
		const [, sign, hours = '0', minutes = '0', seconds = '0'] = /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?/.exec(format.format(ms)) ?? [];
		const size = Math.round(Number(hours) * 60 + Number(minutes) + Number(seconds) / 60);
		return sign === '-' ? -size : size;
	};
}
