import { ago, localTime, statedInstant, statedTime, utcTime, zoneName } from '../format.ts';

const zoned = (date: Date) => `${localTime(date)} ${zoneName()} · ${utcTime(date)}`;

/** A point in time in the browser's time zone, with UTC in the title. */
export function Time({ at }: { at: string }) {
	const date = new Date(at);
	return (
		<time dateTime={at} title={zoned(date)}>
			{localTime(date)}
		</time>
	);
}

/** The time since an instant, with the full time in the title. */
export function Ago({ at, never = 'never' }: { at: string | null; never?: string }) {
	if (at === null) return <span class="muted">{never}</span>;
	const date = new Date(at);
	return (
		<time dateTime={at} title={zoned(date)}>
			{ago(date, new Date())}
		</time>
	);
}

/**
 * A time that a sender stated, in the zone that the page names; the title has it as stated. A date stays a date, and a time without an offset
 * is shown as stated and says so.
 * @param stated a FHIR date or dateTime
 */
export function When({ stated }: { stated: string | null }) {
	if (stated === null) return <>–</>;
	const at = statedInstant(stated);
	const title = `stated as ${stated}`;
	const without = stated.includes('T') ? `${title}, without an offset from UTC` : title;
	return (
		<time dateTime={stated} title={at === undefined ? without : `${title} · ${utcTime(at)}`}>
			{statedTime(stated)}
		</time>
	);
}
