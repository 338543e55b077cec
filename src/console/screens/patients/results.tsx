import { useMemo } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Sparkline } from '../../components/chart.tsx';
import { Choice } from '../../components/choice.tsx';
import { CsvButton } from '../../components/csv-button.tsx';
import { Empty, Loading } from '../../components/empty.tsx';
import { DayInput } from '../../components/period.tsx';
import { Problem } from '../../components/problem.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { When } from '../../components/time.tsx';
import { useEntryState } from '../../entries.ts';
import { listResults, type PatientResult } from './calls.ts';
import { MarkText } from './mark.tsx';
import { Coded, Origin } from './sections.tsx';
import { groupsOf, newestFirst, pointsOf, type ResultGroup, trendOf } from './trend.ts';
import { TrendChart } from './trend-chart.tsx';

/** More lines cannot be told apart. */
const linesMax = 4;

const periods = [
	{ days: 0, title: 'All' },
	{ days: 7, title: 'Last 7 days' },
	{ days: 30, title: 'Last 30 days' },
	{ days: 365, title: 'Last year' },
	{ days: 1826, title: 'Last 5 years' },
	{ days: -1, title: 'From … to …' },
] as const;

export interface ResultPeriod {
	/** 0 for all, -1 for the two dates. */
	days: number;
	from: string;
	to: string;
}

export const allResults: ResultPeriod = { days: 0, from: '', to: '' };

const dayMs = 86_400_000;

/** The period as the service takes it. The last day is part of it. */
function endsOf({ days, from, to }: ResultPeriod) {
	if (days > 0) return { since: new Date(Date.now() - days * dayMs).toISOString().slice(0, 10) };
	if (days === 0) return {};
	const [begins, ends] = [from, to].map((day) => (day === '' ? undefined : new Date(`${day}T00:00`)));
	ends?.setDate(ends.getDate() + 1);
	return { since: begins?.toISOString(), until: ends?.toISOString() };
}

const valueColumns = {
	value: {
		name: 'value',
		title: 'Value',
		cell: (result: PatientResult) => (
			<>
				{result.value || '–'} <MarkText result={result} />
			</>
		),
	},
	range: { name: 'range', title: 'Reference', cell: ({ range }: PatientResult) => range || '–' },
	at: { name: 'at', title: 'When', tight: true, cell: ({ at }: PatientResult) => <When stated={at} /> },
	status: { name: 'status', title: 'Status', tight: true, spare: true, cell: ({ status }: PatientResult) => status.replaceAll('-', ' ') },
	origin: { name: 'origin', title: 'From', tight: true, screenOnly: true, cell: ({ origin }: PatientResult) => <Origin origin={origin} /> },
};

/** The results of a patient in a period: the latest of each code, and the course of those that are opened. */
export function Results({
	site,
	id,
	period,
	onPeriod,
}: {
	site: string;
	id: string;
	period: ResultPeriod;
	onPeriod(next: ResultPeriod): void;
}) {
	const [category, setCategory] = useEntryState('category of results', '');
	const [onlyMarked, setOnlyMarked] = useEntryState('only marked results', false);
	const [opened, setOpened] = useEntryState<readonly string[]>('opened results', []);
	const answer = useAnswer((signal) => listResults({ site, id, ...endsOf(period) }, signal), [site, id, period]);
	const results = answer.data?.results ?? [];
	const categories = [...new Set(results.map((result) => result.category))].filter((text) => text !== '').sort();
	const groups = useMemo(
		() =>
			groupsOf(results.filter((result) => category === '' || result.category === category)).filter(
				({ rows }) => !onlyMarked || rows.some(isMarked),
			),
		[answer.data, category, onlyMarked],
	);
	const chosen = opened.flatMap((key) => groups.find((group) => group.key === key) ?? []);
	const filed = (chosen.length > 0 ? chosen : groups).flatMap((group) => group.rows).toSorted(newestFirst);
	return (
		<>
			<div class="filters">
				<PeriodChoice period={period} onPeriod={onPeriod} />
				{categories.length > 1 && (
					<Choice label="Category" value={category} options={categories.map((text) => [text, text])} onValue={setCategory} />
				)}
				<label>
					<input type="checkbox" checked={onlyMarked} onChange={(event) => setOnlyMarked(event.currentTarget.checked)} />
					Only results with values out of range
				</label>
				{groups.length > 0 && <CsvButton name="results" rows={filed} />}
			</div>
			{answer.failure && <Problem failure={answer.failure} onRetry={answer.reload} />}
			{answer.data === undefined && answer.loading && <Loading lines={6} />}
			{answer.data?.cut === true && <p class="note warning">There are older results in this period. Choose a shorter one to see them.</p>}
			{answer.data !== undefined && groups.length === 0 && (
				<Empty icon="patients" title={results.length === 0 ? 'No results in this period' : 'No results match'} />
			)}
			{chosen.length > 0 && <Course chosen={chosen} groups={groups} onChoose={setOpened} />}
			{chosen.length === 0 && groups.length > 0 && <Latest groups={groups} onOpen={(key) => setOpened([key])} />}
		</>
	);
}

const isMarked = ({ flag, derived }: PatientResult) => derived !== null || (flag !== null && flag !== 'normal');

function PeriodChoice({ period, onPeriod }: { period: ResultPeriod; onPeriod(next: ResultPeriod): void }) {
	const day = (name: 'from' | 'to', title: string) => (
		<DayInput label={title} value={period[name]} onValue={(value) => onPeriod({ ...period, [name]: value })} />
	);
	return (
		<>
			<label>
				Period
				<select value={period.days} onChange={(event) => onPeriod({ ...period, days: Number(event.currentTarget.value) })}>
					{periods.map(({ days, title }) => (
						<option key={days} value={days}>
							{title}
						</option>
					))}
				</select>
			</label>
			{period.days === -1 && (
				<>
					{day('from', 'First day')}
					{day('to', 'Last day')}
				</>
			)}
		</>
	);
}

/** The period in words, for paper. */
export function periodText({ days, from, to }: ResultPeriod): string {
	if (days === -1) return `${from || 'the beginning'} to ${to || 'today'}`;
	return periods.find((period) => period.days === days)?.title ?? '';
}

function Latest({ groups, onOpen }: { groups: readonly ResultGroup[]; onOpen(key: string): void }) {
	const lift = ({ by: _, ...column }: Column<PatientResult>): Column<ResultGroup> => ({
		...column,
		cell: ({ latest }) => column.cell(latest),
	});
	return (
		<Table
			caption="Latest result of each code"
			columns={[
				{ name: 'text', title: 'What', cell: ({ name, code }) => <Coded text={name} code={code} /> },
				lift(valueColumns.value),
				{ name: 'course', title: 'Course', tight: true, cell: (group) => <Glance group={group} /> },
				lift({ ...valueColumns.range, spare: true }),
				lift(valueColumns.at),
				lift(valueColumns.origin),
			]}
			rows={groups}
			identify={({ key }) => key}
			open={({ key }) => onOpen(key)}
		/>
	);
}

/** A line without axes, of values in one unit. */
function Glance({ group: { rows, name } }: { group: ResultGroup }) {
	const points = pointsOf(rows);
	const isOneUnit = new Set(points.map(({ result }) => result.unit)).size === 1;
	if (points.length < 2 || !isOneUnit) return <span class="muted">{rows.length > 1 ? `${rows.length} values` : ''}</span>;
	return <Sparkline points={points} label={name} format={String} base={Math.min(...points.map(({ value }) => value))} />;
}

interface CourseProps {
	chosen: readonly ResultGroup[];
	groups: readonly ResultGroup[];
	onChoose(keys: readonly string[]): void;
}

/** The course of the chosen codes, as a chart and as the table of all of their values. */
function Course({ chosen, groups, onChoose }: CourseProps) {
	const trend = useMemo(() => trendOf(chosen), [chosen.map(({ key, rows }) => `${key} ${rows.length}`).join('\n'), groups]);
	const rows = chosen.flatMap((group) => group.rows.map((row, index) => ({ row, key: `${group.key} ${row.id} ${index}` })));
	const sorted = rows.toSorted((left, right) => newestFirst(left.row, right.row));
	const lift = ({ by: _, ...column }: Column<PatientResult>): Column<(typeof rows)[number]> => ({
		...column,
		cell: ({ row }) => column.cell(row),
	});
	const names = chosen.map(({ name }) => name).join(', ');
	const what: Column<PatientResult> = { name: 'what', title: 'What', cell: ({ text, code }) => text || code };
	const columns = [valueColumns.at, ...(chosen.length > 1 ? [what] : []), valueColumns.value, valueColumns.range, valueColumns.status];
	return (
		<>
			<CourseHead chosen={chosen} groups={groups} onChoose={onChoose} />
			{trend.series.length === 0 ? (
				<p class="note">These results have no numbers to draw. The table has them.</p>
			) : (
				<TrendChart trend={trend} />
			)}
			<Table
				caption={`All results of ${names}, newest first`}
				columns={[...columns, valueColumns.origin].map(lift)}
				rows={sorted}
				identify={({ key }) => key}
			/>
		</>
	);
}

function CourseHead({ chosen, groups, onChoose }: CourseProps) {
	const further = groups.filter(({ key, rows }) => !chosen.some((group) => group.key === key) && pointsOf(rows).length > 0);
	return (
		<div class="run-head course-head">
			<Button icon="back" kind="quiet" onClick={() => onChoose([])}>
				All results
			</Button>
			{chosen.map(({ key, name }) => (
				<span key={key} class="chip">
					<strong>{name}</strong>
					{chosen.length > 1 && (
						<Button
							kind="quiet"
							icon="close"
							compact
							onClick={() => onChoose(chosen.filter((group) => group.key !== key).map((group) => group.key))}
						>
							{`Take ${name} off the chart`}
						</Button>
					)}
				</span>
			))}
			{further.length > 0 && chosen.length < linesMax && (
				<label class="beside">
					<span class="visually-hidden">Compare with</span>
					<select
						value=""
						onChange={(event) => {
							const { value } = event.currentTarget;
							if (value !== '') onChoose([...chosen.map(({ key }) => key), value]);
						}}
					>
						<option value="">Compare with…</option>
						{further.map(({ key, name }) => (
							<option key={key} value={key}>
								{name}
							</option>
						))}
					</select>
				</label>
			)}
		</div>
	);
}
