import { useState } from 'preact/hooks';
import { useAnswer } from '../../answers.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { Panel } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { say } from '../../components/toast.tsx';
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
					caption="What was put right, newest first"
					columns={[
						{ name: 'at', title: 'When', tight: true, cell: ({ at }) => <Ago at={at} /> },
						{ name: 'what', title: 'What', tight: true, cell: ({ operation: what }) => what },
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
				<p class="note">Nothing was changed about whose study this is.</p>
			)}
			{operation && <Edit {...{ site, study, operation }} done={done} onClose={() => setOperation(undefined)} />}
			{undoing && (
				<Confirm
					title="Undo it?"
					action="Undo"
					onConfirm={async () => {
						await undoStudy({ site, edit: undoing.id });
						done('It is undone.');
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
	const named = operation === 'move' ? { to: target.trim() } : { patient: target.trim() };
	const images = operation === 'assign' ? {} : { series: [...series] };
	const preview = useAnswer(
		async (signal) =>
			target.trim() === '' ? undefined : previewStudy({ site, study: study.study_uid, operation, ...named, ...images }, signal),
		[site, study.study_uid, operation, target, series.join(' ')],
	);
	const shown = preview.data;
	const carryOut = async () => {
		const uid = study.study_uid;
		if (operation === 'assign') await assignStudy({ site, study: uid, patient: target.trim() });
		else if (operation === 'split') await splitStudy({ site, study: uid, patient: target.trim(), series: [...series] });
		else await moveStudy({ site, study: uid, to: target.trim(), series: [...series] });
		done('It is done.');
	};
	return (
		<Confirm title={titles[operation]} action="Carry it out" onConfirm={carryOut} onClose={onClose}>
			<label class="field">
				<span>{operation === 'move' ? 'Study Instance UID of the other study' : 'Id of the patient'}</span>
				<input value={target} onChange={(event) => setTarget(event.currentTarget.value)} autocomplete="off" spellcheck={false} />
			</label>
			{operation !== 'assign' && <SeriesChoice study={study} chosen={series} choose={setSeries} />}
			{shown && <Shown preview={shown} />}
			{preview.failure && <p class="note warning">{preview.failure.message}</p>}
		</Confirm>
	);
}

function SeriesChoice({ study, chosen, choose }: { study: WholeStudy; chosen: readonly string[]; choose(uids: readonly string[]): void }) {
	return (
		<fieldset>
			<legend>Series that go along (none chosen: all)</legend>
			{study.series_list.map(({ series_uid: uid, number, modality, instances }) => (
				<label class="check" key={uid}>
					<input
						type="checkbox"
						checked={chosen.includes(uid)}
						onChange={(event) => choose(event.currentTarget.checked ? [...chosen, uid] : chosen.filter((other) => other !== uid))}
					/>
					<span>
						{modality} {number ?? ''} ({instances})
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
				{instances} of {all} images go from {from?.name ?? 'no patient'} to {to?.name ?? 'no patient'}.
			</p>
			{reports > 0 && <p>{reports} reports that people made go along.</p>}
			{aside > 0 && <p>{aside} images that were kept aside become part of the study.</p>}
			{obstacle && <p class="note warning">{obstacle}</p>}
		</>
	);
}
