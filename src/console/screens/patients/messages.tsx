import { useList } from '../../answers.ts';
import { Empty } from '../../components/empty.tsx';
import { ListTable } from '../../components/table.tsx';
import { pageOf } from '../../pages.ts';
import { type MessageRecord, searchMessages } from '../messages/calls.ts';
import { messageColumns } from '../messages/columns.tsx';

/** The logged messages about one patient, under all of the patient's identifiers. */
export function Messages({ site, id }: { site: string; id: string }) {
	const found = useList<MessageRecord>(
		(page, signal) => searchMessages({ site, patient_id: id, ...page }, signal),
		(message) => message.id,
		[site, id],
		'messages of the patient',
	);
	return (
		<ListTable
			list={found}
			caption="Messages about this patient, newest first"
			noun="message"
			columns={messageColumns}
			dense
			identify={(message) => message.id}
			href={(message) => pageOf('message', { id: message.id })}
			empty={
				<Empty icon="messages" title="No messages about this patient">
					<p>FHIR requests and images are not listed here. The record itself shows where its values came from.</p>
				</Empty>
			}
		/>
	);
}
