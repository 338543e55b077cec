import type { Role } from '#core/role.ts';
import { useAnswer } from '../../answers.ts';
import { Loading } from '../../components/empty.tsx';
import { Form, list } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { say } from '../../components/toast.tsx';
import { readPolicy, setPolicy } from '../sign-in/calls.ts';

const roles = [
	{ value: 'administrator', label: 'Administrators' },
	{ value: 'manager', label: 'Managers' },
	{ value: 'auditor', label: 'Auditors' },
];

/** Shows of which roles local accounts need a second factor, and changes it. */
export function SecondFactorPolicy() {
	const answer = useAnswer((signal) => readPolicy({}, signal), []);
	return (
		<Panel title="Second factor of local accounts">
			{answer.failure && <Problem failure={answer.failure} onRetry={answer.reload} />}
			{answer.loading && <Loading lines={2} />}
			{answer.data && (
				<Form
					key={answer.data.second_factor_roles.join()}
					groups={[
						{
							fields: [
								{
									kind: 'choices',
									name: 'roles',
									label: 'Required of',
									hint: 'People without one have to set one up at once. Accounts of the sign-in provider follow the provider.',
									options: roles,
								},
							],
						},
					]}
					initial={{ roles: answer.data.second_factor_roles }}
					action="Save"
					onlyChanged
					onSubmit={async (values) => {
						await setPolicy({ second_factor_roles: list(values, 'roles') as Role[] });
						say('Saved. It applies from the next request on.');
						answer.reload();
					}}
				/>
			)}
		</Panel>
	);
}
