const message = 'MSH|^~\\&|ADT|NORTH|||20260105||ADT^A08|1|P|2.5.1\rPID|1||4711^^^MRN||Rivers^Alba||19810612|F\r';
const schema = (properties: object, required: readonly string[]) => ({ type: 'object', properties, required });
const text = { type: 'string' };
const accepted = schema({ success: { const: true }, message_type: text, ack: text }, ['success', 'message_type', 'ack']);
const refused = schema({ success: { const: false }, message_type: text, error: text, ack: text }, ['success', 'error']);
const json = (description: string, content: object) => ({ description, content: { 'application/json': { schema: content } } });

const xml = (description: string) => ({
	description,
	content: { 'application/xml': { schema: text }, 'application/json': { schema: schema({ success: { type: 'boolean' } }, ['success']) } },
});
const registration = `<PRPA_IN201301UV02 xmlns="urn:hl7-org:v3" ITSVersion="XML_1.0">
  <id root="2.25.1"/>
  <creationTime value="20260105083000+0000"/>
  <interactionId root="2.16.840.1.113883.1.6" extension="PRPA_IN201301UV02"/>
  <processingCode code="P"/>
  <processingModeCode code="T"/>
  <acceptAckCode code="NE"/>
  <controlActProcess classCode="CACT" moodCode="EVN">
    <subject typeCode="SUBJ"><registrationEvent classCode="REG" moodCode="EVN"><subject1 typeCode="SBJ"><patient classCode="PAT">
      <id root="1.2.3" extension="4711"/>
      <patientPerson><name use="L"><given>Alba</given><family>Rivers</family></name></patientPerson>
    </patient></subject1></registrationEvent></subject>
  </controlActProcess>
</PRPA_IN201301UV02>`;

/** Returns the OpenAPI 3.1 document of the HL7 surface. `server` is the origin at which it was requested. */
export function hl7OpenApi(version: string, server: string): object {
	return {
		openapi: '3.1.0',
		info: {
			title: 'Tributary HL7',
			version,
			description: 'HL7 v2 and v3 over HTTP. A request carries one message. It is answered when the message is committed or refused.',
		},
		servers: [{ url: server }],
		security: [{ key: [] }],
		paths: {
			'/v2/ingest': {
				post: {
					tags: ['HL7 v2'],
					operationId: 'ingestV2',
					summary: 'Send an HL7 v2 message',
					requestBody: { required: true, content: { 'text/plain': { schema: text, example: message } } },
					responses: {
						200: json('Committed; `ack` is the complete acknowledgement', accepted),
						400: json('Not an HL7 v2 message', refused),
						401: json('No valid key', refused),
						422: json('Refused: `error` says why, `ack` is AE', refused),
						503: json('Could not be stored now; send it again', refused),
						default: json('Refused by the transport', refused),
					},
				},
			},
			'/v3/ingest': {
				post: {
					tags: ['HL7 v3'],
					operationId: 'ingestV3',
					summary: 'Send an HL7 v3 message or a clinical document (CDA R2), alone or in a SOAP envelope',
					requestBody: {
						required: true,
						content: {
							'application/xml': { schema: text, example: registration },
							'text/xml': { schema: text },
							'application/soap+xml': { schema: text },
						},
					},
					responses: {
						200: xml('Committed; MCCI_IN000002UV01, or the JSON of /v2/ingest with Accept: application/json'),
						400: xml('Not XML that can be accepted, or not HL7 v3'),
						401: json('No valid key', refused),
						422: xml('Refused: acknowledgementDetail says why and where'),
						503: json('Could not be stored now; send it again', refused),
						default: json('Refused by the transport', refused),
					},
				},
			},
		},
		components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
	};
}
