import type { Column, TableProps } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { milliseconds } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import type { MessageRecord } from './calls.ts';
import { Outcome, surfaceNames } from './outcome.tsx';

export const messageColumns: readonly Column<MessageRecord>[] = [
	{ name: 'at', title: 'Received', tight: true, cell: ({ received_at }) => <Time at={received_at} /> },
	{ name: 'type', title: 'Type', tight: true, cell: ({ message_type }) => <code>{message_type || '–'}</code> },
	{ name: 'outcome', title: 'Outcome', tight: true, cell: ({ outcome }) => <Outcome outcome={outcome} /> },
	{ name: 'site', title: 'Site', tight: true, cell: ({ site }) => <code>{site}</code> },
	{
		name: 'sender',
		title: 'Sender',
		cell: ({ client, key_label: label, surface, source }) => (
			<>
				{client ?? (label === null ? <code>{source}</code> : <span title={source}>{label}</span>)}
				<span class="sub">{surfaceNames[surface] ?? surface}</span>
			</>
		),
	},
	{
		name: 'control',
		title: 'Control id',
		spare: true,
		cell: ({ control_id }) => <code title={control_id ?? undefined}>{control_id || '–'}</code>,
	},
	{
		name: 'failure',
		title: 'Remarks',
		spare: true,
		rest: true,
		cell: ({ failure, flags }) => {
			const text = failure ?? flags.map((flag) => flag.text).join('; ');
			return text === '' ? null : <span title={text}>{text}</span>;
		},
	},
	{ name: 'latency', title: 'Latency', align: 'end', tight: true, spare: true, cell: ({ latency_ms }) => milliseconds(latency_ms) },
];

export const messageTable: Omit<TableProps<MessageRecord>, 'rows' | 'caption'> = {
	columns: messageColumns,
	dense: true,
	identify: ({ id }) => id,
	href: ({ id }) => pageOf('message', { id }),
	tone: ({ outcome, flags }) => (outcome === 'refused' ? 'danger' : flags.length > 0 ? 'warning' : undefined),
};
