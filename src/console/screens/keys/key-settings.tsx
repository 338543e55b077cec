import { useAnswer } from '../../answers.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Loading } from '../../components/empty.tsx';
import { changed, Form } from '../../components/form.tsx';
import { InForce } from '../../components/in-force.tsx';
import { Problem } from '../../components/problem.tsx';
import { say } from '../../components/toast.tsx';
import { settingFields, settingValues, useSettings } from '../../settings.ts';
import { StoredTimes } from '../sites/stored-times.tsx';
import { type KeyRecord, setKey, showKey } from './calls.ts';
import { expires, scopes } from './fields.ts';

const topics = ['identity', 'time', 'hl7v2', 'fhir', 'images', 'audit'] as const;

/** The label of a key, and what is particular about the messages that come by it. */
export function KeySettings({ of: { id, prefix }, onClose, onSaved }: { of: KeyRecord; onClose(): void; onSaved(): void }) {
	const those = useSettings('key');
	const answer = useAnswer((signal) => showKey({ id }, signal), [id]);
	const key = answer.data;
	const initial = key && { label: key.label, scopes: key.scopes ?? [], expires: key.expires_at ?? '', ...settingValues(those, key) };
	return (
		<Dialog title={`Settings of ${key?.label || prefix}`} onClose={onClose} size="large">
			{answer.failure && <Problem failure={answer.failure} onRetry={answer.reload} />}
			{answer.loading && <Loading lines={3} />}
			{key && initial && (
				<Form
					groups={[
						{ fields: [{ kind: 'text', name: 'label', label: 'Label', maxLength: 200 }, scopes, expires] },
						{
							title: 'What it sends',
							hint: 'If a field is empty, the setting of the site applies.',
							fields: settingFields(those, 'key', topics, key),
						},
					]}
					initial={initial}
					action="Save"
					onlyChanged
					onCancel={onClose}
					onSubmit={async (values) => {
						await setKey({ id, ...changed(initial, values) });
						say('Settings saved. They take effect within a second.');
						onSaved();
						onClose();
					}}
				>
					{() => <InForce holder="key" settings={key.settings} />}
				</Form>
			)}
			{key && <StoredTimes timeZone={key.time_zone ?? ''} set={(asked) => setKey({ id, ...asked })} onSet={answer.reload} />}
		</Dialog>
	);
}
