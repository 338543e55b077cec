import { useState } from 'preact/hooks';
import { useAnswer, useList } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty, Loading } from '../../components/empty.tsx';
import { Facts, Page, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { SearchField } from '../../components/search.tsx';
import { ListTable } from '../../components/table.tsx';
import { say } from '../../components/toast.tsx';
import { pageOf } from '../../pages.ts';
import { navigate } from '../../router.ts';
import type { ScreenProps } from '../../screen.ts';
import { may } from '../../session.ts';
import { type PatientRecord, searchPatients } from '../patients/calls.ts';
import { Identifiers } from '../patients/patients.tsx';
import { type IdentityPreview, mergePatients, previewIdentity, unmergePatients } from './calls.ts';

/** Shows two patients side by side, which of them remains, and what a merge would move. */
export function Merge({ parameters: { site = '', survivor = '', prior = '' } }: ScreenProps) {
	const up = { href: `/identity?${new URLSearchParams({ site })}`, title: 'Identity' };
	const answer = useAnswer(prior === '' ? undefined : (signal) => previewIdentity({ site, survivor, prior, operation: 'merge' }, signal), [
		site,
		survivor,
		prior,
	]);
	return (
		<Page title="Merge patients" up={up} lead="The surviving patient receives all records and identifiers of the other one.">
			{prior === '' && <Choose site={site} survivor={survivor} />}
			{prior !== '' && answer.failure && <Problem failure={answer.failure} onRetry={answer.reload} />}
			{prior !== '' && !answer.data && !answer.failure && <Loading lines={6} />}
			{answer.data && <Preview site={site} preview={answer.data} />}
		</Page>
	);
}

/** Finds the patient to merge. The search text never enters a URL. */
function Choose({ site, survivor }: { site: string; survivor: string }) {
	const [search, setSearch] = useState('');
	const found = useList<PatientRecord>(
		(page, signal) => searchPatients({ site, text: search, ...page }, signal),
		({ id }) => id,
		[site, search],
	);
	const rows = found.rows.filter(({ id, replaced_by: by }) => id !== survivor && by === null);
	return (
		<Panel title="Who is the same person?">
			<SearchField label="Search patients" value={search} onValue={setSearch} placeholder="4711, Doe Jane, 1970-01-31" />
			<ListTable
				list={{ ...found, rows }}
				caption="Patients"
				noun="patient"
				columns={[
					{ name: 'name', title: 'Name', cell: ({ name }) => name || 'no name' },
					{ name: 'born', title: 'Born', tight: true, cell: ({ birth_date: date }) => date ?? '–' },
					{ name: 'identifiers', title: 'Identifiers', cell: (patient) => <Identifiers patient={patient} /> },
				]}
				identify={({ id }) => id}
				href={({ id }) => pageOf('mergeWith', { site, survivor, prior: id })}
				empty={<Empty icon="patients" title="No patients match" />}
			/>
		</Panel>
	);
}

const factsOf = (patient: PatientRecord) =>
	[
		['Name', patient.name],
		['Born', patient.birth_date],
		['Gender', patient.gender],
		['Identifiers', <Identifiers key="identifiers" patient={patient} most={20} />],
	] as const;

function Moves({ preview }: { preview: IdentityPreview }) {
	const { moves, identifiers } = preview;
	return (
		<ul class="links">
			{moves.map(({ type, count }) => (
				<li key={type}>
					{count} × {type}
				</li>
			))}
			{moves.length === 0 && <li class="muted">No resource refers to the patient.</li>}
			{identifiers.length > 0 && (
				<li>
					{preview.operation === 'merge'
						? 'These identifiers will belong to the surviving patient: '
						: 'These identifiers will belong to the other patient again: '}
					{identifiers.map((value) => (
						<code key={value} class="chip">
							{value}
						</code>
					))}
				</li>
			)}
		</ul>
	);
}

function Preview({ site, preview }: { site: string; preview: IdentityPreview }) {
	const [asking, setAsking] = useState(false);
	const { survivor, prior, obstacle } = preview;
	return (
		<>
			<div class="columns">
				<Panel title="Surviving patient">
					<Facts facts={factsOf(survivor)} />
				</Panel>
				<Panel title="Merged into the surviving patient">
					<Facts facts={factsOf(prior)} />
				</Panel>
			</div>
			<Panel title="What moves">
				<Moves preview={preview} />
				{obstacle && <p class="note warning">They cannot be merged: {obstacle}.</p>}
			</Panel>
			<div class="actions">
				<Button
					icon="replay"
					onClick={() => navigate(pageOf('mergeWith', { site, survivor: prior.id, prior: survivor.id }), { replace: true })}
				>
					Swap the patients
				</Button>
				{may('manager') && (
					<Button kind="primary" disabled={obstacle !== null} onClick={() => setAsking(true)}>
						Merge…
					</Button>
				)}
			</div>
			{asking && (
				<Confirm
					title="Merge these patients?"
					action="Merge"
					danger
					onConfirm={async () => {
						await mergePatients({ site, survivor: survivor.id, prior: prior.id });
						say('The patients are merged.');
						navigate(pageOf('patient', { site, id: survivor.id }), { replace: true });
					}}
					onClose={() => setAsking(false)}
				>
					<p>The merge joins the site’s queue, like one that a registration system sends. You can undo it on the patient’s page.</p>
				</Confirm>
			)}
		</>
	);
}

/** A button that shows what undoing a merge would move, and then undoes it. */
export function Unmerge({
	site,
	survivor,
	prior,
	onDone,
}: {
	site: string;
	survivor: PatientRecord;
	prior: PatientRecord;
	onDone(): void;
}) {
	const [open, setOpen] = useState(false);
	return (
		<>
			<Button onClick={() => setOpen(true)}>Unmerge…</Button>
			{open && <UnmergeDialog site={site} survivor={survivor} prior={prior} onDone={onDone} onClose={() => setOpen(false)} />}
		</>
	);
}

interface UnmergeProps {
	site: string;
	survivor: PatientRecord;
	prior: PatientRecord;
	onDone(): void;
	onClose(): void;
}

function UnmergeDialog({ site, survivor, prior, onDone, onClose }: UnmergeProps) {
	const pair = { site, survivor: survivor.id, prior: prior.id };
	const answer = useAnswer((signal) => previewIdentity({ ...pair, operation: 'unmerge' }, signal), [pair]);
	if (answer.data === undefined || answer.data.obstacle !== null) {
		return (
			<Dialog title="Unmerge" onClose={onClose} size="small">
				{answer.failure && <Problem failure={answer.failure} onRetry={answer.reload} />}
				{answer.data?.obstacle && <p class="note warning">The merge cannot be undone: {answer.data.obstacle}.</p>}
				{!answer.data && !answer.failure && <Loading />}
			</Dialog>
		);
	}
	const preview = answer.data;
	return (
		<Confirm
			title="Undo this merge?"
			action="Unmerge"
			danger
			onConfirm={async () => {
				await unmergePatients(pair);
				say('The patients are separate again.');
				onClose();
				onDone();
			}}
			onClose={onClose}
		>
			<p>
				{prior.name || 'The other patient'} gets back what was recorded under it before the merge. What came since stays with{' '}
				{survivor.name || 'the surviving patient'}.
			</p>
			<Moves preview={preview} />
		</Confirm>
	);
}
