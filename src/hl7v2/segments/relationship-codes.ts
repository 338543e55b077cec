import type { Coding } from '#fhir/datatypes.ts';
import { v2Table } from '#fhir/mapping/coding-system.ts';

const roleCode = 'http://terminology.hl7.org/CodeSystem/v3-RoleCode';
const contactRole = v2Table('0131');

/** Table 0063 → v3-RoleCode and table 0131 (v2-to-FHIR concept map); the other codes of the table stay as sent. */
export const relationships: Readonly<Record<string, Coding>> = {
	BRO: { system: roleCode, code: 'BRO', display: 'brother' },
	CHD: { system: roleCode, code: 'CHILD', display: 'child' },
	DOM: { system: roleCode, code: 'SIGOTHR', display: 'significant other' },
	EMC: { system: contactRole, code: 'C', display: 'Emergency Contact' },
	EMR: { system: contactRole, code: 'E', display: 'Employer' },
	EXF: { system: roleCode, code: 'EXT', display: 'extended family member' },
	FCH: { system: roleCode, code: 'CHLDFOST', display: 'foster child' },
	FND: { system: roleCode, code: 'FRND', display: 'unrelated friend' },
	FTH: { system: roleCode, code: 'FTH', display: 'father' },
	GCH: { system: roleCode, code: 'GRNDCHILD', display: 'grandchild' },
	GRP: { system: roleCode, code: 'GRPRN', display: 'grandparent' },
	MTH: { system: roleCode, code: 'MTH', display: 'mother' },
	NCH: { system: roleCode, code: 'NCHILD', display: 'natural child' },
	OTH: { system: contactRole, code: 'O', display: 'Other' },
	PAR: { system: roleCode, code: 'PRN', display: 'parent' },
	SCH: { system: roleCode, code: 'STPCHLD', display: 'step child' },
	SEL: { system: roleCode, code: 'ONESELF', display: 'self' },
	SIB: { system: roleCode, code: 'SIB', display: 'sibling' },
	SIS: { system: roleCode, code: 'SIS', display: 'sister' },
	SPO: { system: roleCode, code: 'SPS', display: 'spouse' },
	UNK: { system: contactRole, code: 'U', display: 'Unknown' },
};
