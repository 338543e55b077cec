import { Activity } from './badge.tsx';
import type { Column } from './table.tsx';
import { Time } from './time.tsx';

/** The column of the time at which something was made. */
export function createdColumn<Row extends { created_at: string }>(title: 'Created' | 'Added' = 'Created'): Column<Row> {
	return {
		name: 'created',
		title,
		by: ({ created_at: at }) => at,
		spare: true,
		tight: true,
		cell: ({ created_at: at }) => <Time at={at} />,
	};
}

/** The column that says whether something is active; in its order, what is active comes first. */
export function activityColumn<Row extends { active: boolean }>(): Column<Row> {
	return {
		name: 'state',
		title: 'State',
		by: ({ active }) => Number(!active),
		tight: true,
		cell: ({ active }) => <Activity active={active} />,
	};
}
