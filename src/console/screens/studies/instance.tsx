import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { fileAddress } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { LinkButton } from '../../components/button.tsx';
import { Empty, Loading } from '../../components/empty.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { SearchInput } from '../../components/search.tsx';
import { Table } from '../../components/table.tsx';
import { bytes, count } from '../../format.ts';
import { type InstanceTags, instancePath, showTags } from '../../images/calls.ts';
import { pageOf } from '../../pages.ts';
import type { ScreenProps } from '../../screen.ts';

type Tag = InstanceTags['tags'][number];

/** The elements of one instance. */
export function Instance({ parameters: { site = '', id = '', instance = '' } }: ScreenProps) {
	const up = { href: pageOf('study', { site, id }), title: 'Study' };
	const answer = useAnswer((signal) => showTags({ site, instance }, signal), [site, instance]);
	if (answer.data === undefined) {
		return (
			<Page title="Instance" up={up}>
				{answer.failure ? <Problem failure={answer.failure} onRetry={answer.reload} /> : <Loading lines={8} />}
			</Page>
		);
	}
	const { series_uid: series, transfer_syntax_uid: syntax } = answer.data;
	return (
		<Page
			title="Instance"
			up={up}
			lead={<code>{instance}</code>}
			actions={
				<>
					<LinkButton href={pageOf('series', { site, id, series }, { instance })}>Look at it</LinkButton>
					<LinkButton href={fileAddress(instancePath(site, instance, 'file'))} icon="download" download>
						Download (DICOM)
					</LinkButton>
				</>
			}
		>
			<Panel title="Instance">
				<Facts
					facts={[
						['Series Instance UID', <code key="series">{series}</code>],
						['Transfer syntax', <code key="syntax">{syntax}</code>],
					]}
				/>
			</Panel>
			<Tags listing={answer.data} />
		</Page>
	);
}

/** Rows that are drawn at a time; a search goes through all of them. */
const drawnMax = 500;

/** `00081140.1.00081155` → `(0008,1155)` */
function tagText({ path }: Tag): string {
	const tag = path.slice(-8);
	return `(${tag.slice(0, 4)},${tag.slice(4)})`;
}

/** The number of sequences in which an element lies. */
function depthOf({ path }: Tag): number {
	return (path.split('.').length - 1) / 2;
}

/** `PatientName` → `Patient Name`. */
function words(keyword: string): string {
	return keyword.replace(/([a-z])([A-Z0-9])/g, '$1 $2').replace(/([A-Z])([A-Z][a-z])/g, '$1 $2');
}

function Tags({ listing: { tags, ends } }: { listing: InstanceTags }) {
	const [search, setSearch] = useState('');
	const [drawn, setDrawn] = useState(drawnMax);
	const wanted = search.trim().toLowerCase();
	const plain = wanted.replace(/[(),\s]/g, '');
	const found =
		wanted === ''
			? tags
			: tags.filter(
					({ path, keyword, value, creator }) =>
						[keyword, words(keyword), value, creator ?? ''].some((text) => text.toLowerCase().includes(wanted)) ||
						(plain !== '' && path.slice(-8).toLowerCase().includes(plain)),
				);
	const shown = found.slice(0, drawn);
	return (
		<Panel title="Elements">
			<div class="filters">
				<SearchInput label="Search elements" value={search} onValue={setSearch} placeholder="Name, tag or value" />
				<span class="muted" role="status">
					{count(found.length, 'element')}
					{found.length < tags.length && ` of ${tags.length}`}
				</span>
			</div>
			{ends !== null && <p class="note warning">The list ends early: {ends}.</p>}
			{found.length === 0 ? (
				<Empty icon="search" title="No element matches" />
			) : (
				<div class="tags">
					<Table
						caption="Elements up to the pixel data"
						columns={[
							{
								name: 'tag',
								title: 'Tag',
								tight: true,
								cell: (tag) => <code class="path">{`${'› '.repeat(depthOf(tag))}${tagText(tag)}`}</code>,
							},
							{ name: 'vr', title: 'VR', tight: true, cell: ({ vr }) => vr },
							{ name: 'name', title: 'Name', cell: (tag) => <Name tag={tag} /> },
							{ name: 'value', title: 'Value', cell: (tag) => <Value tag={tag} /> },
						]}
						rows={shown}
						identify={({ path }) => path}
					/>
				</div>
			)}
			{shown.length < found.length && (
				<p class="note">
					{shown.length} of {found.length} are shown.{' '}
					<button type="button" class="button plain" onClick={() => setDrawn(drawn + drawnMax)}>
						<span>Show more</span>
					</button>
				</p>
			)}
			<p class="note">The list ends with the pixel data; what follows it in the file is not read.</p>
		</Panel>
	);
}

function Name({ tag: { keyword, creator } }: { tag: Tag }) {
	if (creator !== null) {
		return (
			<>
				<Badge>private</Badge> {creator}
			</>
		);
	}
	return keyword === '' ? <span class="muted">not known</span> : words(keyword);
}

function Value({ tag: { vr, value, length, cut } }: { tag: Tag }) {
	const size = length === null ? '' : bytes(length);
	if (vr === 'SQ') return <span class="muted">{value || 'no item'}</span>;
	if (value === '' && !cut) return <span class="muted">–</span>;
	return (
		<>
			{value} {cut && <span class="muted">{value === '' ? `${size || 'in fragments'}, not shown` : `… ${size} in all`}</span>}
		</>
	);
}
