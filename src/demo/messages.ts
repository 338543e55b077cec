/** Returns the messages of the demonstration: an invented patient, a visit, results, a merge, a revision by HL7 v3 and a procedure step with its study. `run` keeps control ids apart. */
export function demoMessages(run: string): { mllp: string[]; http: string; v3: string; mpps: object[]; studyUid: string } {
	const header = (event: string, id: string) =>
		`MSH|^~\\&|DEMO|DEMO CLINIC|TRIBUTARY|DEMO|20260105083000+0000||${event}|${run}-${id}|P|2.5.1|||||||UNICODE UTF-8`;
	const person = 'PID|1||4711^^^DEMO^MR||Rivers^Alba^Noa||19810612|F|||12 Example Street^^London^^ZZ1 1ZZ^GB||+44 20 7946 0000^PRN^PH';
	const admission = [
		header('ADT^A01^ADT_A01', '1'),
		'EVN|A01|20260105082500+0000',
		person,
		'PV1|1|I|2W^201^A^DEMO||||1001^Marlow^Tess^^^Dr||||||||||||V1^^^DEMO^VN',
		'',
	];
	const results = [
		header('ORU^R01^ORU_R01', '2'),
		person,
		'OBR|1|P1^DEMO|F1^DEMO|24323-8^Metabolic panel^LN|||20260105090000+0000',
		'OBX|1|NM|2345-7^Glucose^LN||5.40|mmol/L^mmol/L^UCUM|3.9-6.1|N|||F',
		'OBX|2|NM|2951-2^Sodium^LN||141|mmol/L^mmol/L^UCUM|136-145|N|||F',
		'OBX|3|SN|1988-5^CRP^LN||<^5|mg/L^mg/L^UCUM|0-5|N|||F',
		'OBX|4|TX|59776-5^Findings^LN||Chest: clear.||||||F',
		'',
	];
	const duplicate = [header('ADT^A04^ADT_A01', '3'), 'EVN|A04|20260105091000+0000', 'PID|1||4712^^^DEMO^MR||Rivers^A||19810612|F', ''];
	const merge = [header('ADT^A40^ADT_A39', '4'), 'EVN|A40|20260105092000+0000', person, 'MRG|4712^^^DEMO^MR', ''];
	const update = [header('ADT^A08^ADT_A01', '5'), 'EVN|A08|20260105093000+0000', `${person}~+44 7700 900000^PRN^CP`, ''];
	const mllp = [admission, results, duplicate, merge].map((segments) => segments.join('\r'));
	const number = run.replace(/\D/g, '');
	const studyUid = `2.25.${number}2`;
	return { mllp, http: update.join('\r'), v3: revision(run), mpps: procedureStep(number, studyUid), studyUid };
}

/** HL7 v3: what the registry knows of the same patient. */
function revision(run: string): string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<PRPA_IN201302UV02 xmlns="urn:hl7-org:v3" ITSVersion="XML_1.0">
  <id root="2.25.1" extension="${run}-6"/>
  <creationTime value="20260105094000+0000"/>
  <interactionId root="2.16.840.1.113883.1.6" extension="PRPA_IN201302UV02"/>
  <processingCode code="P"/><processingModeCode code="T"/><acceptAckCode code="NE"/>
  <receiver typeCode="RCV"><device classCode="DEV" determinerCode="INSTANCE"><id root="2.25.2"/></device></receiver>
  <sender typeCode="SND"><device classCode="DEV" determinerCode="INSTANCE"><id root="2.25.3"/></device></sender>
  <controlActProcess classCode="CACT" moodCode="EVN">
    <subject typeCode="SUBJ"><registrationEvent classCode="REG" moodCode="EVN"><subject1 typeCode="SBJ"><patient classCode="PAT">
      <id extension="4711" assigningAuthorityName="DEMO"/>
      <patientPerson classCode="PSN" determinerCode="INSTANCE">
        <name use="L"><given>Alba</given><given>Noa</given><family>Rivers</family><family qualifier="BR">Field</family></name>
        <languageCommunication><languageCode code="en-GB"/></languageCommunication>
      </patientPerson>
    </patient></subject1></registrationEvent></subject>
  </controlActProcess>
</PRPA_IN201302UV02>`;
}

/** Begun and completed, in the DICOM JSON Model. `run` is a number. */
function procedureStep(run: string, studyUid: string): object[] {
	const step = { sop_instance_uid: `2.25.${run}1`, study_uid: studyUid };
	const start = {
		'00080060': { vr: 'CS', Value: ['CT'] },
		'00100010': { vr: 'PN', Value: [{ Alphabetic: 'Rivers^Alba^Noa' }] },
		'00100020': { vr: 'LO', Value: ['4711'] },
		'00400241': { vr: 'AE', Value: ['CT01'] },
		'00400244': { vr: 'DA', Value: ['20260105'] },
		'00400245': { vr: 'TM', Value: ['100000'] },
	};
	const end = { '00400250': { vr: 'DA', Value: ['20260105'] }, '00400251': { vr: 'TM', Value: ['101500'] } };
	return [
		{ ...step, status: 'IN PROGRESS', attributes: start },
		{ ...step, status: 'COMPLETED', attributes: end },
	];
}
