/**
 * HL7 v3 on one core: reading XML as a tree, and reading and mapping registry messages, beside an XML library that builds a
 * DOM. `node bench/micro/hl7v3-parse.ts [milliseconds]`.
 */
import { pathToFileURL } from 'node:url';
import { DOMParser } from '@xmldom/xmldom';
import { defaultLimits } from '#core/limits.ts';
import { interpret, receive } from '#hl7v3/interpret.ts';
import { readXml } from '#hl7v3/read.ts';
import { randomSource } from '../corpus.ts';

/** Does its work on one message, and returns something of the result: it cannot be left out. */
type Work = (bytes: Buffer) => number;

const contenders: Readonly<Record<string, Work>> = {
	'read and map': (bytes) => interpret(receive(bytes, defaultLimits), undefined).changes.length,
	read: (bytes) => readXml(bytes, defaultLimits).content.length,
	'xmldom (DOM)': (bytes) => new DOMParser().parseFromString(bytes.toString('utf8'), 'text/xml').childNodes.length,
};

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

export interface Result {
	contender: string;
	/** 10^6 bytes per second. */
	megabytes: number;
	messages: number;
}

/** Measures every contender and prints a line for each. */
export async function run(milliseconds = 1000): Promise<Result[]> {
	const corpus = registryMessages(200);
	const bytes = corpus.reduce((total, message) => total + message.length, 0);
	console.log(`registry messages, ${Math.round(bytes / corpus.length)} bytes each`);
	const results: Result[] = [];
	for (const [contender, work] of Object.entries(contenders)) {
		const round = () => corpus.reduce((total, message) => total + work(message), 0);
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
		const result = { contender, megabytes: (bytes * rounds) / elapsed / 1000, messages: (corpus.length * rounds * 1000) / elapsed };
		results.push(result);
		console.log(`${contender}: ${result.megabytes.toFixed(1)} MB/s, ${Math.round(result.messages).toLocaleString('en')} msg/s`);
	}
	return results;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await run(Number(process.argv[2] ?? 1000));
