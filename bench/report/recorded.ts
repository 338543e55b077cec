/**
 * Figures that were not measured in the runs of this repository: peers on another day, and what others publish. They are shown with date and
 * machine, and no factor is made of them.
 */
export interface Recorded {
	what: string;
	figure: string;
	by: string;
	where: string;
}

const sameKind = 'November 2026, 2 cores, one hour, 16 connections, autocannon';

export const recorded: readonly Recorded[] = [
	{ what: 'FHIR read', figure: '1,430/s', by: 'Medplum 5.0', where: sameKind },
	{ what: 'FHIR `?identifier=`', figure: '1,040/s', by: 'Medplum 5.0', where: sameKind },
	{ what: 'FHIR `Observation?patient=`', figure: '1,160/s', by: 'Medplum 5.0', where: sameKind },
	{ what: 'FHIR `Patient?name=`, 12,000–25,000 patients', figure: '1,052–1,156/s', by: 'Medplum 5.0', where: sameKind },
	{ what: 'FHIR create Patient, Observation', figure: '281/s, 304/s', by: 'Medplum 5.0', where: sameKind },
	{
		what: 'HL7 v2 over MLLP, full store, 1 and 64 connections',
		figure: '251/s, 259/s',
		by: 'Open Integration Engine 4.5.2 on PostgreSQL',
		where: 'November 2026, 2 cores, one hour',
	},
	{
		what: 'HL7 v2, in and out together, sustained',
		figure: '26,600/s (2.3 billion a day)',
		by: '[InterSystems IRIS for Health 2020.1](https://community.intersystems.com/post/intersystems-iris-health-20201-hl7-benchmark)',
		where: 'published March 2020, one server with Xeon Scalable (2nd generation) and Optane SSDs',
	},
	{
		what: 'import of 1.04 billion resources (1 million patients, 1,045 GiB)',
		figure: '23,829 resources/s',
		by: '[Blaze](https://github.com/samply/blaze/blob/main/docs/performance/import.md)',
		where: 'published, EPYC 9555, 128 cores, 768 GiB',
	},
	{
		what: 'import of 104 million resources',
		figure: '9,469 resources/s',
		by: '[Blaze](https://github.com/samply/blaze/blob/main/docs/performance/import.md)',
		where: 'published, EPYC 7543P, 16 cores, 128 GiB',
	},
];
