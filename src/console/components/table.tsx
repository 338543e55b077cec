import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { List } from '../answers.ts';
import { csvRowsMax, saveCsv } from '../csv.ts';
import { count } from '../format.ts';
import { navigate } from '../router.ts';
import { useAct } from './act.ts';
import { Button } from './button.tsx';
import { Loading } from './empty.tsx';
import { type Orderable, useOrder } from './order.ts';
import { Problem } from './problem.tsx';
import { announce, say } from './toast.tsx';

export interface Column<Row> extends Orderable<Row> {
	/** Empty for a column of buttons, which has no label when rows are stacked. */
	title: string;
	cell(row: Row): ComponentChildren;
	align?: 'end';
	/** Hidden below about 1,100 px. The row's own page shows the same value. */
	spare?: boolean;
	/** The column is only as wide as its content. */
	tight?: boolean;
	/** The column of a dense table that takes the width which the others leave. What does not fit is cut off; its title has all of it. */
	rest?: boolean;
	/** Paper has no use for it, such as links to other pages. */
	screenOnly?: boolean;
}

export interface TableProps<Row> {
	/** Screen readers read it before the table. */
	caption: string;
	columns: readonly Column<Row>[];
	rows: readonly Row[];
	identify(row: Row): string;
	/** The page of a row. The first cell links to it, and the whole row can be pressed. */
	href?(row: Row): string;
	/** Used instead of a page: the first cell becomes a button that calls this. */
	open?(row: Row): void;
	/** Rows of less interest, such as revoked or disabled ones, are greyed. */
	faded?(row: Row): boolean;
	/** Rows that show a problem are marked. */
	tone?(row: Row): 'danger' | 'warning' | undefined;
	/** A row is one line: what stands below a value stands beside it, long values are cut off, and narrow windows have several values in a line. */
	dense?: boolean;
}

/** The keys j and k move between rows. Below 640 px each row is a block of names and values. */
export function Table<Row>({ caption, columns, rows, identify, href, open, faded, tone, dense = false }: TableProps<Row>) {
	const press = (event: MouseEvent, row: Row) => {
		if (event.target instanceof Element && event.target.closest('a, button, input, label, summary')) return;
		if (String(getSelection()) !== '') return;
		if (href) navigate(href(row));
		else open?.(row);
	};
	const first = (column: Column<Row>, row: Row) => {
		if (href)
			return (
				<a data-row-link href={href(row)}>
					{column.cell(row)}
				</a>
			);
		if (open)
			return (
				<button type="button" class="row-link" data-row-link onClick={() => open(row)}>
					{column.cell(row)}
				</button>
			);
		return column.cell(row);
	};
	const classOf = (column: Column<Row>) =>
		[
			column.align === 'end' ? 'end' : '',
			...(['spare', 'tight', 'rest'] as const).map((name) => (column[name] ? name : '')),
			column.screenOnly ? 'screen-only' : '',
		]
			.filter(Boolean)
			.join(' ') || undefined;
	return (
		<div class="table-frame">
			{/* The roles are those of the elements; stacked rows, which are no table to the style sheet, lose them otherwise. */}
			<table role="table" class={['table', href || open ? 'pressable' : '', dense ? 'dense' : ''].join(' ').trim()}>
				<caption class="visually-hidden">{caption}</caption>
				<thead role="rowgroup">
					<tr role="row">
						{columns.map((column) => (
							<th key={column.name} role="columnheader" scope="col" class={classOf(column)} aria-sort={column.order?.direction}>
								<Head column={column} />
							</th>
						))}
					</tr>
				</thead>
				<tbody role="rowgroup">
					{rows.map((row) => (
						<tr
							key={identify(row)}
							role="row"
							data-row
							tabIndex={href || open ? undefined : -1}
							class={[faded?.(row) ? 'faded' : '', tone?.(row) ?? ''].join(' ').trim() || undefined}
							onClick={(event) => press(event, row)}
						>
							{columns.map((column, index) => (
								<td key={column.name} role="cell" data-title={column.title} class={classOf(column)}>
									<div>{index === 0 ? first(column, row) : column.cell(row)}</div>
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}

const arrows = { ascending: '↑', descending: '↓' } as const;

function Head<Row>({ column: { title, order } }: { column: Column<Row> }) {
	if (title === '') return <span class="visually-hidden">Actions</span>;
	if (order === undefined) return <>{title}</>;
	return (
		<button type="button" class="order" onClick={order.turn}>
			{title}
			<span aria-hidden="true">{order.direction === undefined ? '↕' : arrows[order.direction]}</span>
		</button>
	);
}

export interface ListTableProps<Row> extends Omit<TableProps<Row>, 'rows'> {
	list: List<Row>;
	/** The noun for one row, such as `key`. */
	noun: string;
	nouns?: string;
	/** Shown if the list is empty. */
	empty: ComponentChildren;
	/** The list has a file of its own elsewhere on the page. */
	withoutFile?: boolean;
}

/** A table of rows that are all here, which people can order by its heads. */
export function OrderedTable<Row>({ rows, ...table }: TableProps<Row>) {
	const { columns, ordered } = useOrder(table.caption, table.columns, rows.length > 1);
	return <Table {...table} columns={columns} rows={ordered(rows)} />;
}

/** A table for a list that is loading, loaded, failed or empty, with a button to load more. */
export function ListTable<Row extends object>({ list, noun, nouns, empty, withoutFile = false, ...table }: ListTableProps<Row>) {
	const { rows, loading, failure, complete, more, reload } = list;
	const { columns, ordered } = useOrder(table.caption, table.columns, complete && rows.length > 1);
	const settled = !loading && failure === undefined;
	const found = `${count(rows.length, noun, nouns)}${complete ? '' : ' so far'}`;
	useEffect(() => {
		if (settled) announce(rows.length === 0 ? `No ${nouns ?? `${noun}s`}` : found);
	}, [settled, found]);
	if (rows.length === 0) {
		if (failure) return <Problem failure={failure} onRetry={reload} />;
		return loading ? <Loading lines={6} /> : empty;
	}
	return (
		<div class={loading ? 'list busy' : 'list'} aria-busy={loading}>
			<Table {...table} columns={columns} rows={ordered(rows)} />
			{failure && <Problem failure={failure} onRetry={rows.length === 0 ? reload : more} />}
			<footer class="list-foot">
				<span class="muted">{found}</span>
				{!withoutFile && <ListFile list={list} name={nouns ?? `${noun}s`} />}
				{!complete && (
					<Button onClick={more} busy={loading}>
						Load more
					</Button>
				)}
			</footer>
		</div>
	);
}

/** Hands out the whole list as CSV, with the members that the API has. */
function ListFile<Row extends object>({ list, name }: { list: List<Row>; name: string }) {
	const [busy, act] = useAct();
	const save = async () => {
		const rows = await list.all(csvRowsMax);
		saveCsv(name.replaceAll(' ', '-'), rows);
		if (rows.length === csvRowsMax) say(`The file has the first ${csvRowsMax} ${name}. Narrow the list to get the others.`, 'danger');
	};
	return (
		<Button kind="quiet" icon="download" busy={busy} onClick={() => act(save)}>
			CSV
		</Button>
	);
}
