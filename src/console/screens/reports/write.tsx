import { Dialog } from '../../components/dialog.tsx';
import type { FieldGroup } from '../../components/form.tsx';
import { Form, text, type Values } from '../../components/form.tsx';
import { Facts } from '../../components/page.tsx';
import { say } from '../../components/toast.tsx';
import { pageOf } from '../../pages.ts';
import { navigate } from '../../router.ts';
import { session } from '../../session.ts';
import { useStore } from '../../store.ts';
import { readable, type StudyFacts, studyTitle } from '../patients/sections.tsx';
import { addReport, amendReport, type WholeReport } from './calls.ts';

const content: FieldGroup['fields'] = [
	{ kind: 'text', name: 'title', label: 'Title', half: true, maxLength: 500, placeholder: 'CT chest' },
	{ kind: 'text', name: 'author', label: 'Author', half: true, maxLength: 500, placeholder: 'Dr. Weiss' },
	{ kind: 'area', name: 'text', label: 'Text', required: true, rows: 12 },
	{ kind: 'area', name: 'conclusion', label: 'Conclusion', rows: 3 },
];

function contentOf(values: Values) {
	const stated = (name: 'title' | 'author' | 'conclusion') => (text(values, name) === '' ? {} : { [name]: text(values, name) });
	return { text: String(values['text'] ?? ''), ...stated('title'), ...stated('author'), ...stated('conclusion') };
}

/** Names the patient and the study of a report above the text that is written. */
function About({ patient, study, number }: { patient: string; study: string; number: string }) {
	return (
		<Facts
			facts={[
				['Patient', patient],
				['Study', study],
				['Accession number', number],
			]}
		/>
	);
}

const statusField: FieldGroup = {
	fields: [
		{
			kind: 'radio',
			name: 'status',
			label: 'Status',
			required: true,
			options: [
				{ value: 'draft', label: 'Draft', hint: 'Readers see it as preliminary. You can change and complete it later.' },
				{ value: 'completed', label: 'Completed', hint: 'Readers see it as final. Later changes are amendments.' },
			],
		},
	],
};

type Reported = StudyFacts & { patient_name: string };

export function NewReport({ site, study, onClose }: { site: string; study: Reported; onClose(): void }) {
	const current = useStore(session);
	const write = async (values: Values) => {
		const status = text(values, 'status') === 'completed' ? 'completed' : 'draft';
		const report = await addReport({ site, study: study.study_uid, status, ...contentOf(values) });
		say(status === 'draft' ? 'The draft is saved.' : 'The report is completed.');
		onClose();
		navigate(pageOf('report', { id: report.id }, { site }));
	};
	return (
		<Dialog title="New report" onClose={onClose} size="large">
			<About patient={study.patient_name} study={studyTitle(study)} number={study.accession_number} />
			<Form
				groups={[{ fields: content }, statusField]}
				initial={{
					title: readable(study.description),
					author: 'user' in current ? current.user.email : '',
					text: '',
					conclusion: '',
					status: 'draft',
				}}
				action="Write"
				onSubmit={write}
				onCancel={onClose}
			/>
		</Dialog>
	);
}

export function AmendReport({ report, onClose, onDone }: { report: WholeReport; onClose(): void; onDone(): void }) {
	const amend = async (values: Values) => {
		await amendReport({ id: report.id, site: report.site, ...contentOf(values) });
		say(report.status === 'draft' ? 'The draft is saved.' : 'The report is amended.');
		onClose();
		onDone();
	};
	return (
		<Dialog title={report.status === 'draft' ? 'Change the draft' : 'Amend the report'} onClose={onClose} size="large">
			<About patient={report.patient_name ?? ''} study={readable(report.study_description)} number={report.accession_number ?? ''} />
			<Form
				groups={[
					{
						fields: content,
						hint: 'The new text also replaces the conclusion and any attached document. Enter the conclusion again if it still holds.',
					},
				]}
				initial={{ title: report.title ?? '', author: report.author ?? '', text: report.text ?? '', conclusion: report.conclusion ?? '' }}
				action={report.status === 'draft' ? 'Save draft' : 'Amend'}
				onSubmit={amend}
				onCancel={onClose}
			/>
		</Dialog>
	);
}
