import type { ChangeKind } from '../apply/change-kind.ts';
import { diagnosticReportKind } from './diagnostic-report.ts';
import { diagnosticReportEditKind } from './diagnostic-report-edit.ts';
import { documentKind } from './document/document.ts';
import { encounterKind } from './encounter.ts';
import { identityKind } from './identity.ts';
import { instanceKind } from './instance.ts';
import { itemKind } from './item.ts';
import { mergeKind } from './merge.ts';
import { observationKind } from './observation.ts';
import { patientKind } from './patient.ts';
import { personOrPlaceKind } from './person-or-place.ts';
import { rederivationKind } from './rederivation.ts';
import { resourceKind } from './resource.ts';
import { serviceRequestKind } from './service-request.ts';
import { settlementKind } from './settlement.ts';
import { stepReportKind } from './step-report.ts';
import { studyEditKind } from './study-edit.ts';
import { unlinkKind } from './unlink.ts';

/** All kinds of change. To add a kind, add a file and a row here. */
export const changeKinds = [
	personOrPlaceKind,
	patientKind,
	encounterKind,
	serviceRequestKind,
	observationKind,
	itemKind,
	mergeKind,
	unlinkKind,
	identityKind,
	resourceKind,
	documentKind,
	diagnosticReportKind,
	diagnosticReportEditKind,
	instanceKind,
	settlementKind,
	studyEditKind,
	stepReportKind,
	rederivationKind,
] as const;

type ChangeOf<Kind> = Kind extends ChangeKind<infer C> ? C : never;

export type Change = ChangeOf<(typeof changeKinds)[number]>;

const byName: ReadonlyMap<string, ChangeKind<Change>> = new Map(changeKinds.map((kind) => [kind.kind, kind]));

export function kindOf({ kind }: Change): ChangeKind<Change> {
	const found = byName.get(kind);
	if (found === undefined) throw new Error(`no kind of change is named ${kind}`);
	return found;
}
