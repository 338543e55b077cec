/**
 * HL7 v3 on one core: reading XML as a tree, and reading and mapping registry messages and the entries of clinical documents,
 * beside an XML library that builds a DOM. `node bench/micro/hl7v3-parse.ts [milliseconds]`.
 */
import { pathToFileURL } from 'node:url';
import { DOMParser } from '@xmldom/xmldom';
import { readEntries } from '#cda/entries.ts';
import { Context, documentFlagsMax } from '#hl7v3/context.ts';
import { interpret, receive } from '#hl7v3/interpret.ts';
import { readXml } from '#hl7v3/read.ts';
import { defaultLimits } from '../../src/limits.ts';
import { randomSource } from '../corpus.ts';

/** Does its work on one message, and returns something of the result: it cannot be left out. */
type Work = (bytes: Buffer) => number;

const readers: Readonly<Record<string, Work>> = {
	read: (bytes) => readXml(bytes, defaultLimits).content.length,
	'xmldom (DOM)': (bytes) => new DOMParser().parseFromString(bytes.toString('utf8'), 'text/xml').childNodes.length,
};

interface Corpus {
	name: string;
	messages: Buffer[];
	contenders: Readonly<Record<string, Work>>;
}

const corpora = (): Corpus[] => [
	{
		name: 'registry messages',
		messages: registryMessages(200),
		contenders: {
			'read and map': (bytes) => interpret(receive(bytes, defaultLimits), { settings: {}, hostTimeZone: 'UTC' }).changes.length,
			...readers,
		},
	},
	{
		name: 'clinical documents',
		messages: clinicalDocuments(40),
		contenders: {
			'read and map': (bytes) => readEntries(readXml(bytes, defaultLimits), new Context(undefined, 'Z', documentFlagsMax)).length,
			...readers,
		},
	},
];

const families = ['Abelson', 'Brandt', 'Castellano', 'Dimitrov', 'Eriksen', 'Fontaine', 'Grünewald', 'Holloway'] as const;

/** Registry messages with invented patients, laid out as senders do, about 3 KB each. */
function registryMessages(count: number): Buffer[] {
	const random = randomSource(7);
	const number = (digits: number) =>
		String(Math.floor(random() * 10 ** digits))
			.padStart(digits, '0')
			.replace(/^0/, '1');
	return Array.from({ length: count }, (_, index) => {
		const family = families[index % families.length];
		return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>
<PRPA_IN201301UV02 xmlns="urn:hl7-org:v3" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ITSVersion="XML_1.0">
  <id root="1.2.840.99999.1" extension="${index}"/>
  <creationTime value="20260105083000+0000"/>
  <interactionId root="2.16.840.1.113883.1.6" extension="PRPA_IN201301UV02"/>
  <processingCode code="P"/>
  <processingModeCode code="T"/>
  <acceptAckCode code="AL"/>
  <receiver typeCode="RCV">
    <device classCode="DEV" determinerCode="INSTANCE">
      <id root="1.2.840.99999.2"/>
    </device>
  </receiver>
  <sender typeCode="SND">
    <device classCode="DEV" determinerCode="INSTANCE">
      <id root="1.2.840.99999.3"/>
    </device>
  </sender>
  <controlActProcess classCode="CACT" moodCode="EVN">
    <code code="PRPA_TE201301UV02" codeSystem="2.16.840.1.113883.1.6"/>
    <subject typeCode="SUBJ" contextConductionInd="false">
      <registrationEvent classCode="REG" moodCode="EVN">
        <id nullFlavor="NA"/>
        <statusCode code="active"/>
        <subject1 typeCode="SBJ">
          <patient classCode="PAT">
            <id root="1.2.840.99999.4" extension="${number(7)}" assigningAuthorityName="NORTH"/>
            <id root="1.2.840.99999.5" extension="${number(9)}"/>
            <statusCode code="active"/>
            <patientPerson classCode="PSN" determinerCode="INSTANCE">
              <name use="L">
                <prefix qualifier="AC">Dr.</prefix>
                <given>Ada</given>
                <given>Maria</given>
                <family>${family}</family>
              </name>
              <telecom use="HP" value="tel:+1-555-${number(7)}"/>
              <telecom use="WP" value="mailto:ada.${number(3)}@example.org"/>
              <administrativeGenderCode code="F" codeSystem="2.16.840.1.113883.5.1"/>
              <birthTime value="19${number(2)}0715"/>
              <deceasedInd value="false"/>
              <addr use="HP">
                <streetAddressLine>${number(3)} Mill Lane</streetAddressLine>
                <city>Northfield</city>
                <state>IL</state>
                <postalCode>${number(5)}</postalCode>
                <country>US</country>
              </addr>
              <maritalStatusCode code="M" codeSystem="2.16.840.1.113883.5.2"/>
              <raceCode code="2106-3" codeSystem="2.16.840.1.113883.6.238" displayName="White"/>
              <asOtherIDs classCode="CIT">
                <id root="2.16.840.1.113883.4.1" extension="${number(9)}"/>
                <scopingOrganization classCode="ORG" determinerCode="INSTANCE">
                  <id root="2.16.840.1.113883.4.1"/>
                </scopingOrganization>
              </asOtherIDs>
              <languageCommunication>
                <languageCode code="en-US"/>
              </languageCommunication>
            </patientPerson>
          </patient>
        </subject1>
      </registrationEvent>
    </subject>
  </controlActProcess>
</PRPA_IN201301UV02>
`);
	});
}

/** C-CDA with invented problems and results, laid out as senders do, about 60 KB each: of a problem the narrative, of a result a panel of five. */
function clinicalDocuments(count: number): Buffer[] {
	const random = randomSource(11);
	const number = (digits: number) => String(Math.floor(random() * 9 * 10 ** (digits - 1)) + 10 ** (digits - 1));
	const repeated = (times: number, write: (index: number) => string) => Array.from({ length: times }, (_, index) => write(index)).join('');
	const template = (id: number) => `<templateId root="2.16.840.1.113883.10.20.22.4.${id}" extension="2015-08-01"/>`;
	const section = (code: string, rows: string, entries: string) => `
        <component>
          <section>
            <code code="${code}" codeSystem="2.16.840.1.113883.6.1" codeSystemName="LOINC"/>
            <title>Section ${code}</title>
            <text><table><tbody>${rows}</tbody></table></text>${entries}
          </section>
        </component>`;
	const problem = (index: number) => `
            <entry typeCode="DRIV">
              <act classCode="ACT" moodCode="EVN">
                ${template(3)}
                <id root="1.2.840.99999.6" extension="${number(9)}"/>
                <code code="CONC" codeSystem="2.16.840.1.113883.5.6"/>
                <statusCode code="active"/>
                <effectiveTime><low value="2012${number(2).replace(/^./, '0')}15"/></effectiveTime>
                <entryRelationship typeCode="SUBJ">
                  <observation classCode="OBS" moodCode="EVN">
                    ${template(4)}
                    <id root="1.2.840.99999.7" extension="${number(9)}"/>
                    <code code="55607006" codeSystem="2.16.840.1.113883.6.96" displayName="Problem"/>
                    <text><reference value="#problem${index}"/></text>
                    <statusCode code="completed"/>
                    <effectiveTime><low value="20120115"/></effectiveTime>
                    <value xsi:type="CD" code="${number(8)}" codeSystem="2.16.840.1.113883.6.96" displayName="Invented problem">
                      <originalText><reference value="#problem${index}"/></originalText>
                      <translation code="J45.${number(1)}" codeSystem="2.16.840.1.113883.6.90"/>
                    </value>
                  </observation>
                </entryRelationship>
              </act>
            </entry>`;
	const result = () => `
                <component>
                  <observation classCode="OBS" moodCode="EVN">
                    ${template(2)}
                    <id root="1.2.840.99999.8" extension="${number(9)}"/>
                    <code code="${number(4)}-${number(1)}" codeSystem="2.16.840.1.113883.6.1" displayName="Invented result"/>
                    <statusCode code="completed"/>
                    <effectiveTime value="20200110083000-0500"/>
                    <value xsi:type="PQ" value="${number(2)}.${number(1)}" unit="mg/dL"/>
                    <interpretationCode code="N" codeSystem="2.16.840.1.113883.5.83"/>
                    <referenceRange>
                      <observationRange>
                        <value xsi:type="IVL_PQ"><low value="10.0" unit="mg/dL"/><high value="99.0" unit="mg/dL"/></value>
                      </observationRange>
                    </referenceRange>
                  </observation>
                </component>`;
	const panel = () => `
            <entry typeCode="DRIV">
              <organizer classCode="BATTERY" moodCode="EVN">
                ${template(1)}
                <id root="1.2.840.99999.9" extension="${number(9)}"/>
                <code code="24323-8" codeSystem="2.16.840.1.113883.6.1" displayName="Invented panel"/>
                <statusCode code="completed"/>${repeated(5, result)}
              </organizer>
            </entry>`;
	const row = (index: number) => `<tr ID="problem${index}"><td>Invented problem ${index}</td><td>active</td></tr>`;
	const document = (index: number) => `<?xml version="1.0" encoding="UTF-8"?>
<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <id root="1.2.840.99999.10" extension="${index}"/>
  <code code="34133-9" codeSystem="2.16.840.1.113883.6.1"/>
  <effectiveTime value="20260105083000+0000"/>
  <component>
    <structuredBody>${section('11450-4', repeated(15, row), repeated(15, problem))}${section('30954-2', '', repeated(8, panel))}
    </structuredBody>
  </component>
</ClinicalDocument>
`;
	return Array.from({ length: count }, (_, index) => Buffer.from(document(index)));
}

export interface Result {
	corpus: string;
	contender: string;
	/** 10^6 bytes per second. */
	megabytes: number;
	messages: number;
}

/** Measures every contender and prints a line for each. */
export async function run(milliseconds = 1000): Promise<Result[]> {
	const results: Result[] = [];
	for (const corpus of corpora()) {
		const bytes = corpus.messages.reduce((total, message) => total + message.length, 0);
		console.log(`${corpus.name}, ${Math.round(bytes / corpus.messages.length)} bytes each`);
		for (const [contender, work] of Object.entries(corpus.contenders)) {
			const rate = ratePerSecond(() => corpus.messages.reduce((total, message) => total + work(message), 0), milliseconds);
			const result = { corpus: corpus.name, contender, megabytes: (bytes * rate) / 1e6, messages: corpus.messages.length * rate };
			results.push(result);
			console.log(`${contender}: ${result.megabytes.toFixed(1)} MB/s, ${Math.round(result.messages).toLocaleString('en')} msg/s`);
		}
	}
	return results;
}

function ratePerSecond(round: () => number, milliseconds: number): number {
	const warm = performance.now() + milliseconds / 3;
	while (performance.now() < warm) round();
	const begin = performance.now();
	let rounds = 0;
	let elapsed = 0;
	while (elapsed < milliseconds) {
		round();
		rounds += 1;
		elapsed = performance.now() - begin;
	}
	return (rounds * 1000) / elapsed;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await run(Number(process.argv[2] ?? 1000));
