import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { localDate, localMinute, zoneName } from '../format.ts';
import { Button } from './button.tsx';

/** A span of time that narrows a list. The ends are instants, as the API takes them; an empty end is open. */
export interface Period {
	/** A period that ends now or with a day, such as `15m`; it moves on while the ends of another do not. */
	last: string;
	since: string;
	until: string;
}

export const noPeriod: Period = { last: '', since: '', until: '' };

const minuteMs = 60_000;
const dayMs = 86_400_000;

const presets: readonly (readonly [last: string, label: string, since: (now: Date) => Date, until?: (now: Date) => Date])[] = [
	['15m', 'Last 15 minutes', (now) => new Date(now.getTime() - 15 * minuteMs)],
	['1h', 'Last hour', (now) => new Date(now.getTime() - 60 * minuteMs)],
	['today', 'Today', (now) => midnight(now, 0), (now) => midnight(now, 1)],
	['yesterday', 'Yesterday', (now) => midnight(now, -1), (now) => midnight(now, 0)],
	['7d', 'Last 7 days', (now) => new Date(now.getTime() - 7 * dayMs)],
	['30d', 'Last 30 days', (now) => new Date(now.getTime() - 30 * dayMs)],
];

/** Days have 23 or 25 hours where clocks are changed. */
function midnight(now: Date, days: number): Date {
	return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
}

/** Converts to the API's form: instants in UTC. */
export function instantsOf({ last, since, until }: Period, now = new Date()): { since: string | undefined; until: string | undefined } {
	const preset = presets.find(([name]) => name === last);
	if (preset === undefined) return { since: since || undefined, until: until || undefined };
	const [, , begins, ends] = preset;
	return { since: begins(now).toISOString(), until: ends?.(now).toISOString() };
}

const between = 'between';

/** The last filters of a list: a period, and a button that clears all filters. */
export function PeriodFilter({
	period,
	onPeriod,
	onClear,
}: {
	period: Period;
	onPeriod(period: Period): void;
	onClear: (() => void) | undefined;
}) {
	const { last, since, until } = period;
	const chosen = presets.some(([name]) => name === last) ? last : last === between || since !== '' || until !== '' ? between : '';
	const choose = (next: string) => {
		if (next !== between) return onPeriod({ ...noPeriod, last: next });
		const now = instantsOf(period);
		onPeriod({ last: between, since: now.since ?? '', until: now.until ?? '' });
	};
	return (
		<>
			<label>
				Time
				<select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
					<option value="">Any time</option>
					{presets.map(([name, label]) => (
						<option key={name} value={name}>
							{label}
						</option>
					))}
					<option value={between}>From … until …</option>
				</select>
			</label>
			{chosen === between && (
				<>
					<InstantInput label="From" value={since} onValue={(next) => onPeriod({ ...period, last: between, since: next })} />
					<InstantInput label="Until" value={until} onValue={(next) => onPeriod({ ...period, last: between, until: next })} />
				</>
			)}
			{onClear && (
				<Button kind="quiet" icon="close" onClick={onClear}>
					Clear
				</Button>
			)}
		</>
	);
}

const written = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2})?))?$/;

/** The instant of a date, or of a date and time, in the browser's time zone; undefined if it is none. */
export function instantOf(text: string): string | undefined {
	const [, date = '', time = '00:00'] = written.exec(text.trim()) ?? [];
	const at = new Date(`${date}T${time}`);
	return date === '' || Number.isNaN(at.getTime()) || localDate(at) !== date ? undefined : at.toISOString();
}

/** A point in time, written as in the lists. Inputs of the browser write dates in the order of its own language. */
function InstantInput({ label, value, onValue }: { label: string; value: string; onValue(value: string): void }) {
	return (
		<WrittenInput
			label={
				<span>
					{label} <span class="zone">({zoneName()})</span>
				</span>
			}
			value={value === '' ? '' : localMinute(new Date(value))}
			read={(text) => (text === '' ? '' : instantOf(text))}
			example="2026-01-31 13:45"
			refusal="Write it as 2026-01-31 or 2026-01-31 13:45."
			onValue={onValue}
		/>
	);
}

/** A day, written as in the lists. */
export function DayInput({ label, value, onValue }: { label: string; value: string; onValue(value: string): void }) {
	const isDay = (text: string) => text === '' || (/^\d{4}-\d{2}-\d{2}$/.test(text) && instantOf(text) !== undefined);
	return (
		<WrittenInput
			label={label}
			value={value}
			read={(text) => (isDay(text) ? text : undefined)}
			example="2026-01-31"
			refusal="Write it as 2026-01-31."
			onValue={onValue}
		/>
	);
}

interface WrittenProps {
	label: ComponentChildren;
	/** The value as it is written. */
	value: string;
	/** Returns the value that a text stands for; undefined if it stands for none. */
	read(text: string): string | undefined;
	example: string;
	refusal: string;
	onValue(value: string): void;
}

/** A field whose text is taken when it is complete, and stays there when it is refused. */
function WrittenInput({ label, value, read, example, refusal, onValue }: WrittenProps) {
	const [refused, setRefused] = useState<string>();
	// A list that is read meanwhile renders the field again.
	const [typed, setTyped] = useState<string>();
	const hint = useId();
	const take = (text: string) => {
		const taken = read(text.trim());
		setTyped(undefined);
		setRefused(taken === undefined ? text : undefined);
		if (taken !== undefined) onValue(taken);
	};
	return (
		<label>
			{label}
			<input
				value={typed ?? refused ?? value}
				onInput={(event) => setTyped(event.currentTarget.value)}
				placeholder={example}
				size={example.length + 1}
				autocomplete="off"
				aria-invalid={refused !== undefined}
				aria-describedby={refused === undefined ? undefined : hint}
				onChange={(event) => take(event.currentTarget.value)}
			/>
			{refused !== undefined && (
				<span class="error" id={hint}>
					{refusal}
				</span>
			)}
		</label>
	);
}
