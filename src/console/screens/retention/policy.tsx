import { useState } from 'preact/hooks';
import { useAnswer, wholeList } from '../../answers.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Problem } from '../../components/problem.tsx';
import { NoSite } from '../../components/site-needed.tsx';
import { type Column, ListTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { bytes, count } from '../../format.ts';
import { pageOf } from '../../pages.ts';
import { type ForeseenRemoval, type KeptPolicy, previewRetention, showRetention } from './calls.ts';
import { keptTitles, removedRows, timeKept } from './words.ts';

/** A policy, and what the next run would remove by it where that was counted. */
type Row = KeptPolicy & { foreseen?: ForeseenRemoval };

const columns: readonly Column<Row>[] = [
	{ name: 'kept', title: 'What', cell: ({ kept }) => keptTitles[kept] },
	{ name: 'site', title: 'Site', tight: true, cell: ({ site }) => (site === null ? 'no site' : <code>{site}</code>) },
	{
		name: 'days',
		title: 'Kept',
		tight: true,
		cell: ({ days, moving }) => (moving ? 'all of it: the site moves, or was moved' : timeKept(days)),
	},
	{
		name: 'from',
		title: 'Decided by',
		tight: true,
		cell: ({ from, site }) => (from === 'site' && site !== null ? <a href={pageOf('site', { slug: site })}>the site</a> : 'the network'),
	},
	{
		name: 'held',
		title: 'Legal hold',
		tight: true,
		cell: ({ held }) => (held ? <Badge tone="warning">keeps all of it</Badge> : <span class="muted">–</span>),
	},
];

const foreseenColumns: readonly Column<Row>[] = [
	{
		name: 'rows',
		title: 'Would be removed',
		cell: ({ kept, foreseen }) => {
			if (kept === 'audit') return <span class="muted">not counted: whole months are removed</span>;
			if (foreseen === undefined) return <span class="muted">–</span>;
			const { rows, bytes: size, held_studies: held } = foreseen;
			return (
				<>
					{rows === 0 ? <span class="muted">nothing</span> : `${removedRows(kept, rows)}, ${bytes(size)}`}
					{held > 0 && <span class="sub">{count(held, 'older study is', 'older studies are')} kept by a legal hold</span>}
				</>
			);
		},
	},
	{
		name: 'oldest',
		title: 'Oldest',
		tight: true,
		cell: ({ foreseen }) => (foreseen?.oldest ? <Time at={foreseen.oldest} /> : <span class="muted">–</span>),
	},
];

/** Lists for how long each site keeps what; on request it counts what the next run would remove. */
export function WhatStays({ site }: { site: string | undefined }) {
	const [counts, setCounts] = useState(false);
	const answer = useAnswer((signal) => showRetention({ site }, signal), [site]);
	const preview = useAnswer(counts ? (signal) => previewRetention({ site }, signal) : undefined, [site, counts]);
	const rows = (answer.data ?? []).map((policy): Row => {
		const foreseen = preview.data?.find((one) => one.kept === policy.kept && one.site === policy.site);
		return { ...policy, ...(foreseen && { foreseen }) };
	});
	return (
		<>
			<p class="lead">
				A site decides for itself on its page under <a href="/sites">Sites</a>. Where it says nothing, the settings of the network apply. A
				study is as old as its last change.
			</p>
			<div class="filters">
				<Button busy={preview.loading} onClick={() => (counts ? preview.reload() : setCounts(true))}>
					{preview.data === undefined ? 'Count what would be removed now' : 'Count again'}
				</Button>
				{preview.data !== undefined && <p role="status">{foreseenInWords(preview.data)}</p>}
			</div>
			{preview.failure && <Problem failure={preview.failure} onRetry={preview.reload} />}
			<ListTable<Row>
				list={wholeList(answer, rows)}
				caption="How long data is kept"
				noun="rule"
				columns={preview.data === undefined ? columns : [...columns, ...foreseenColumns]}
				identify={({ kept, site: of }) => `${kept} ${of}`}
				tone={({ foreseen }) => ((foreseen?.rows ?? 0) > 0 ? 'warning' : undefined)}
				empty={<NoSite />}
			/>
		</>
	);
}

function foreseenInWords(foreseen: readonly ForeseenRemoval[]): string {
	const going = foreseen.filter(({ rows }) => rows > 0);
	if (going.length === 0) return 'The next run would remove nothing.';
	const size = going.reduce((sum, one) => sum + one.bytes, 0);
	const totals = new Map<ForeseenRemoval['kept'], number>();
	for (const { kept, rows } of going) totals.set(kept, (totals.get(kept) ?? 0) + rows);
	const parts = [...totals].map(([kept, rows]) => removedRows(kept, rows));
	return `The next run would remove ${parts.join(', ')}: about ${bytes(size)}.`;
}
