import { useState } from 'preact/hooks';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Sparkline } from '../../components/chart.tsx';
import { Empty } from '../../components/empty.tsx';
import { type Column, Table } from '../../components/table.tsx';
import type { PatientChart } from './calls.ts';
import { Coded, moment, Origin } from './sections.tsx';

type Observation = PatientChart['observations'][number];

interface Group {
	key: string;
	latest: Observation;
	rows: readonly Observation[];
}

/** The observations with one code, latest first. */
export function grouped(rows: readonly Observation[]): Group[] {
	const groups = new Map<string, Observation[]>();
	for (const row of rows) {
		const key = row.code || row.text;
		groups.set(key, [...(groups.get(key) ?? []), row]);
	}
	return [...groups].flatMap(([key, found]) => {
		const sorted = found.toSorted((left, right) => (right.at ?? '').localeCompare(left.at ?? ''));
		const [latest] = sorted;
		return latest === undefined ? [] : [{ key, latest, rows: sorted }];
	});
}

function pointsOf(rows: readonly Observation[]) {
	return rows
		.filter(({ at, number }) => at !== null && number !== null)
		.map(({ at, number }) => ({ at: Date.parse(at ?? ''), value: number }))
		.filter(({ at }) => Number.isFinite(at))
		.reverse();
}

const shared = {
	value: {
		name: 'value',
		title: 'Value',
		cell: ({ value, interpretation }: Observation) => (
			<>
				{value || '–'} {interpretation && <Badge tone={/normal$/i.test(interpretation) ? 'neutral' : 'warning'}>{interpretation}</Badge>}
			</>
		),
	},
	range: { name: 'range', title: 'Reference', spare: true, cell: ({ range }: Observation) => range || '–' },
	at: { name: 'at', title: 'When', tight: true, cell: ({ at }: Observation) => moment(at) },
	status: { name: 'status', title: 'Status', tight: true, spare: true, cell: ({ status }: Observation) => status },
	origin: { name: 'origin', title: 'From', tight: true, cell: ({ origin }: Observation) => <Origin origin={origin} /> },
};

/** The latest observation of each code with its trend. A code opens into all of its observations. */
export function Observations({ rows }: { site: string; rows: readonly Observation[] }) {
	const [opened, setOpened] = useState<string>();
	if (rows.length === 0) return <Empty icon="patients" title="No observations" />;
	const groups = grouped(rows);
	const chosen = groups.find(({ key }) => key === opened);
	if (chosen !== undefined) {
		const columns: readonly Column<Observation>[] = [shared.at, shared.value, shared.range, shared.status, shared.origin];
		return (
			<>
				<div class="run-head">
					<Button icon="back" kind="quiet" onClick={() => setOpened(undefined)}>
						All observations
					</Button>
					<strong>{chosen.latest.text || chosen.key}</strong>
				</div>
				<Table
					caption={`Observations of ${chosen.latest.text || chosen.key}`}
					columns={columns}
					rows={chosen.rows}
					identify={({ id }) => id}
				/>
			</>
		);
	}
	const lift = (column: Column<Observation>): Column<Group> => ({ ...column, cell: ({ latest }) => column.cell(latest) });
	return (
		<Table
			caption="Latest observation of each code"
			columns={[
				{ name: 'text', title: 'What', cell: ({ latest }) => <Coded text={latest.text} code={latest.code} /> },
				lift(shared.value),
				{
					name: 'course',
					title: 'Trend',
					tight: true,
					cell: ({ rows: all, latest }) => {
						const points = pointsOf(all);
						return points.length > 1 ? (
							<Sparkline points={points} label={latest.text} format={String} base={Math.min(...points.map(({ value }) => value ?? 0))} />
						) : (
							<span class="muted">{all.length > 1 ? `${all.length} values` : ''}</span>
						);
					},
				},
				lift(shared.range),
				lift(shared.at),
				lift(shared.origin),
			]}
			rows={groups}
			identify={({ key }) => key}
			open={({ key }) => setOpened(key)}
		/>
	);
}
