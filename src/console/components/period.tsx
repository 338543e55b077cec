import { Button } from './button.tsx';

/** As `datetime-local` has it, in the zone of the browser; empty: without that end. */
export interface Period {
	since: string;
	until: string;
}

/** What the API takes: instants in UTC. */
export function instantsOf({ since, until }: Period) {
	const instant = (text: string) => (text === '' ? undefined : new Date(text).toISOString());
	return { since: instant(since), until: instant(until) };
}

/** The last of a list's filters: a period, and the way back to no filter. */
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
