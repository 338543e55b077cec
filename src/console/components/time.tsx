import { ago, localTime, utcTime, zoneName } from '../format.ts';

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
