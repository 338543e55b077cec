import { useAnswer } from '../../answers.ts';
import { Choice } from '../../components/choice.tsx';
import { instantsOf, noPeriod, type Period, PeriodFilter } from '../../components/period.tsx';
import { SavedFilters } from '../../components/saved-filters.tsx';
import { SearchInput } from '../../components/search.tsx';
import { TakenInput } from '../../components/taken-input.tsx';
import { listClients, type searchMessages } from './calls.ts';
import { kindNames, surfaceNames } from './outcome.tsx';

export interface MessageFilters extends Period {
	patient: string;
	control_id: string;
	type: string;
	outcome: string;
	kind: string;
	surface: string;
	client: string;
	/** A group of failures. */
	cause: string;
}

export const noFilters: MessageFilters = {
	patient: '',
	control_id: '',
	type: '',
	outcome: '',
	kind: '',
	surface: '',
	client: '',
	cause: '',
	...noPeriod,
};

/** These may name a patient, so no address has them. */
export const hiddenFilters = ['patient'] as const;

type Query = NonNullable<Parameters<typeof searchMessages>[0]>;

const outcomes = ['accepted', 'refused', 'ignored', 'duplicate'] as const;
const types = ['ADT^A01', 'ADT^A04', 'ADT^A08', 'ADT^A40', 'ORU^R01', 'PRPA_IN201301UV02', 'MPPS COMPLETED', 'MPPS N-CREATE', 'MPPS N-SET'];

/** Converts to the API's form: instants in UTC, without empty filters. */
export function queryOf({
	patient,
	control_id: control,
	type,
	outcome,
	kind,
	surface,
	client,
	cause,
	...period
}: MessageFilters): Partial<Query> {
	return {
		patient: patient.trim() || undefined,
		control_id: control.trim() || undefined,
		type: type.trim() || undefined,
		outcome: (outcome || undefined) as (typeof outcomes)[number] | undefined,
		kind: (kind || undefined) as Query['kind'],
		surface: (surface || undefined) as Query['surface'],
		client: client || undefined,
		cause: cause || undefined,
		...instantsOf(period),
	};
}

export function Filters({
	site,
	filters,
	onFilters,
	onClear,
}: {
	site: string | undefined;
	filters: MessageFilters;
	onFilters(filters: MessageFilters): void;
	onClear: (() => void) | undefined;
}) {
	const clients = useAnswer((signal) => listClients({ site }, signal), [site]);
	const set = (name: keyof MessageFilters) => (value: string) => onFilters({ ...filters, [name]: value });
	return (
		<div class="filters many">
			<SearchInput label="Patient identifier" placeholder="Its beginning" value={filters.patient} onValue={set('patient')} />
			<SearchInput first={false} label="Control id" placeholder="Its beginning" value={filters.control_id} onValue={set('control_id')} />
			<TakenInput
				label="Type"
				value={filters.type}
				placeholder="ADT^A08"
				suggestions={{ id: 'message-types', values: types }}
				onValue={set('type')}
			/>
			<Choice label="Outcome" value={filters.outcome} options={outcomes.map((outcome) => [outcome, outcome])} onValue={set('outcome')} />
			<Choice label="Kind" value={filters.kind} options={Object.entries(kindNames)} onValue={set('kind')} />
			<Choice label="Surface" value={filters.surface} options={Object.entries(surfaceNames)} onValue={set('surface')} />
			<Choice
				label="Client"
				value={filters.client}
				options={(clients.data ?? []).map(({ id, name, site: of }) => [id, site === undefined ? `${name} (${of})` : name])}
				onValue={set('client')}
			/>
			<PeriodFilter period={filters} onPeriod={(period) => onFilters({ ...filters, ...period })} onClear={onClear} />
			<SavedFilters />
		</div>
	);
}
