import { instantBounds } from '../date.ts';
import { asObjects, asText } from '../elements.ts';
import { itemLink, patientLink, referencedRow } from '../links.ts';
import { defineResource, readInteractions, writeInteractions } from '../resource.ts';
import {
	codeParameter,
	codingColumns,
	codingParameter,
	conceptCodeColumn,
	instantColumns,
	instantParameter,
	patientParameter,
} from '../search-columns.ts';

/** https://hl7.org/fhir/R4/allergyintolerance.html */
export const allergyIntolerance = defineResource({
	type: 'AllergyIntolerance',
	interactions: [...readInteractions, ...writeInteractions],
	table: 'allergy_intolerance',
	links: [patientLink, itemLink],
	statedLinks: (resource) => ({ patient_id: referencedRow(resource['patient'], 'Patient') }),
	columns: [
		conceptCodeColumn('clinical_status', 'clinicalStatus'),
		codingColumns('code', (resource) => [resource['code'], ...asObjects(resource['reaction']).map((reaction) => reaction['substance'])]),
		instantColumns('recorded', (resource) => instantBounds(asText(resource['recordedDate']))),
	],
	search: {
		patient: patientParameter('Who the sensitivity is for'),
		'clinical-status': codeParameter(
			'clinical_status',
			'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical',
			'Active, inactive or resolved',
		),
		code: codingParameter('code', 'The allergy, or a substance of a reaction'),
		date: instantParameter('recorded', 'When it was first recorded'),
	},
});
