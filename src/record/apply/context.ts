import type { Flag } from '../flag.ts';
import type { IndexOutcome } from '../instance.ts';
import type { StepReportResult } from '../procedure-step.ts';
import type { Settings } from '../settings/settings.ts';
import type { ResourceResult, Row } from './rows.ts';
import type { WorkingSet } from './working-set.ts';

/** The context that is needed, beside the changes, to apply one message. */
export interface ApplyContext {
	readonly set: WorkingSet;
	newId(): string;
	/** The message that is applied: the id under which the message log has it, the surface by which it came, and the address or name of its sender. */
	readonly message: { readonly id: string; readonly surface: string; readonly source: string; readonly settings: Settings };
	/** `meta.source` of the versions that the message writes. */
	readonly source: string;
	/** FHIR instant of the versions that the message writes. */
	readonly lastUpdated: string;
	/** Filled while applying. */
	readonly flags: Flag[];
	/** Versions that the message wrote, in order, for the message log. */
	readonly changed: Row[];
	/** The outcome for each resource that a FHIR client wrote, in the order of its changes. */
	readonly results: ResourceResult[];
	/** The outcome of each report about a procedure step. */
	readonly stepReports: StepReportResult[];
	/** The outcome for each instance. */
	readonly instances: IndexOutcome[];
}
