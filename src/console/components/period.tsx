import { Button } from './button.tsx';

/** A `datetime-local` value in the browser's time zone. An empty value leaves that end open. */
export interface Period {
	since: string;
	until: string;
}

/** Converts to the API's form, instants in UTC. */
export function instantsOf({ since, until }: Period) {
	const instant = (text: string) => (text === '' ? undefined : new Date(text).toISOString());
	return { since: instant(since), until: instant(until) };
}

/** The last filters of a list: a period, and a button that clears all filters. */
export function PeriodFilter({
	period,
	onEnd,
	onClear,
}: {
	period: Period;
	onEnd(name: keyof Period): (value: string) => void;
	onClear: (() => void) | undefined;
}) {
	return (
		<>
			<label>
				From
				<input type="datetime-local" value={period.since} onChange={(event) => onEnd('since')(event.currentTarget.value)} />
			</label>
			<label>
				Until
				<input type="datetime-local" value={period.until} onChange={(event) => onEnd('until')(event.currentTarget.value)} />
			</label>
			{onClear && (
				<Button kind="quiet" icon="close" onClick={onClear}>
					Clear
				</Button>
			)}
		</>
	);
}
