import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Panel } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { TakenInput } from '../../components/taken-input.tsx';
import { Ago } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
import { count } from '../../format.ts';
import { may } from '../../session.ts';
import {
	assignStudy,
	listStudyEdits,
	moveStudy,
	previewStudy,
	type StudyEditRecord,
	type StudyPreview,
	splitStudy,
	undoStudy,
	type WholeStudy,
} from './calls.ts';

type Operation = StudyPreview['operation'];

const titles: Readonly<Record<Operation, string>> = {
	assign: 'Give the study to another patient',
	split: 'Make images a study of their own',
	move: 'Move images into another study',
};

const actions: Readonly<Record<Operation, string>> = { assign: 'Give to this patient', split: 'Split off', move: 'Move' };

const made: Readonly<Record<Operation, string>> = { assign: 'given to another patient', split: 'images split off', move: 'images moved' };

const dones: Readonly<Record<Operation, string>> = {
	assign: 'The study belongs to the other patient now.',
	split: 'The images are a study of their own now.',
	move: 'The images belong to the other study now.',
};

interface Given {
	site: string;
	study: WholeStudy;
	reload(): void;
}

/** Puts right whose a study is. */
export function Whose({ site, study, reload }: Given) {
	const [operation, setOperation] = useState<Operation>();
	const [undoing, setUndoing] = useState<StudyEditRecord>();
	const edits = useAnswer((signal) => listStudyEdits({ site, study: study.study_uid }, signal), [site, study.study_uid]);
	const done = (text: string) => {
		say(text);
		setOperation(undefined);
		setUndoing(undefined);
		edits.reload();
		reload();
	};
	const actions = may('manager') && (
		<>
			<Button onClick={() => setOperation('assign')}>Another patient…</Button>
			<Button onClick={() => setOperation('split')}>Split off…</Button>
			<Button onClick={() => setOperation('move')}>Move…</Button>
		</>
	);
	return (
		<Panel title="Whose study" actions={actions}>
			{edits.data !== undefined && edits.data.length > 0 ? (
				<Table
					caption="Changes, newest first"
					columns={[
						{ name: 'at', title: 'When', tight: true, cell: ({ at }) => <Ago at={at} /> },
						{ name: 'what', title: 'What', tight: true, cell: ({ operation: what }) => made[what] },
						{ name: 'study', title: 'Other study', spare: true, cell: ({ to_study: uid }) => uid && <code>{uid}</code> },
						{ name: 'by', title: 'By', cell: ({ by }) => by },
						{
							name: 'undo',
							title: 'Undo',
							tight: true,
							cell: (edit) =>
								edit.undone_at !== null ? 'undone' : may('manager') && <Button onClick={() => setUndoing(edit)}>Undo…</Button>,
						},
					]}
					rows={edits.data}
					identify={({ id }) => id}
				/>
			) : (
				<p class="note">Nobody has changed whose study this is.</p>
			)}
			{operation && <Edit {...{ site, study, operation }} done={done} onClose={() => setOperation(undefined)} />}
			{undoing && (
				<Confirm
					title="Undo this change?"
					action="Undo"
					onConfirm={async () => {
						await undoStudy({ site, edit: undoing.id });
						done('The change is undone.');
					}}
					onClose={() => setUndoing(undefined)}
				>
					<p>The study returns to its patient, or its images return to it.</p>
				</Confirm>
			)}
		</Panel>
	);
}

interface EditProps {
	site: string;
	study: WholeStudy;
	operation: Operation;
	done(text: string): void;
	onClose(): void;
}

function Edit({ site, study, operation, done, onClose }: EditProps) {
	const [target, setTarget] = useState('');
	const [series, setSeries] = useState<readonly string[]>([]);
	const [listed, setListed] = useState('');
	const instances = listed.split(/[\s,;]+/).filter((uid) => uid !== '');
	const named = operation === 'move' ? { to: target.trim() } : { patient: target.trim() };
	const images = operation === 'assign' ? {} : { series: [...series], instances };
	const preview = useAnswer(
		async (signal) =>
			target.trim() === '' ? undefined : previewStudy({ site, study: study.study_uid, operation, ...named, ...images }, signal),
		[site, study.study_uid, operation, target, series.join(' '), instances.join(' ')],
	);
	const shown = preview.data;
	const carryOut = async () => {
		const uid = study.study_uid;
		if (operation === 'assign') await assignStudy({ site, study: uid, patient: target.trim() });
		else if (operation === 'split') await splitStudy({ site, study: uid, patient: target.trim(), series: [...series], instances });
		else await moveStudy({ site, study: uid, to: target.trim(), series: [...series], instances });
		done(dones[operation]);
	};
	return (
		<Confirm title={titles[operation]} action={actions[operation]} onConfirm={carryOut} onClose={onClose}>
			<TakenInput
				isField
				label={operation === 'move' ? 'Study Instance UID of the other study' : 'Number or id of the patient'}
				value={target}
				onValue={setTarget}
			/>
			{operation !== 'assign' && (
				<>
					<SeriesChoice study={study} chosen={series} choose={setSeries} />
					<TakenInput isField label="Single images, by SOP Instance UID" value={listed} onValue={setListed} />
				</>
			)}
			{shown && <Shown preview={shown} />}
			{preview.failure && <p class="note warning">{preview.failure.message}</p>}
		</Confirm>
	);
}

function SeriesChoice({ study, chosen, choose }: { study: WholeStudy; chosen: readonly string[]; choose(uids: readonly string[]): void }) {
	return (
		<fieldset>
			<legend>Choose the series to move. If you choose none and name no image, all of them are moved.</legend>
			{study.series_list.map(({ series_uid: uid, number, modality, instances }) => (
				<label class="check" key={uid}>
					<input
						type="checkbox"
						checked={chosen.includes(uid)}
						onChange={(event) => choose(event.currentTarget.checked ? [...chosen, uid] : chosen.filter((other) => other !== uid))}
					/>
					<span>
						{modality} {number ?? ''} ({count(instances, 'image')})
					</span>
				</label>
			))}
		</fieldset>
	);
}

function Shown({ preview }: { preview: StudyPreview }) {
	const { from, to, instances, of_instances: all, reports, aside, obstacle } = preview;
	return (
		<>
			<p>
				{instances} of {count(all, 'image')} {instances === 1 ? 'goes' : 'go'} from {personOf(from)} to {personOf(to)}.
			</p>
			{reports > 0 && <p>{count(reports, 'report')} that people wrote will belong to that patient, too.</p>}
			{aside > 0 && <p>{count(aside, 'image')} that were kept aside will become part of the study.</p>}
			{obstacle && <p class="note warning">{obstacle}</p>}
		</>
	);
}

/** A name alone does not tell two people apart. */
function personOf(patient: StudyPreview['to']): string {
	if (patient === null) return 'no patient';
	return [patient.name || 'a patient without a name', patient.birth_date && `born ${patient.birth_date}`].filter(Boolean).join(', ');
}
