import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/**
 * A B-tree takes no entry of more than 2,704 bytes, and refuses the row whose text is longer (SQLSTATE 54000). So each text that
 * is in an index has a bound, and this table says who keeps it. `*` is every table.
 */
const bounds: Readonly<Record<string, string>> = {
	'accepted_message.control_id': 'hl7v2/interpret, hl7v3/header: 250 characters; a SOP Instance UID',
	'message_log.control_id': 'ingest/hl7v2: indexText; hl7v3/header: 250 characters; a SOP Instance UID',
	'message_log.message_type': 'ingest/hl7v2: indexText; others name it from a closed list',
	'message_log.patient': 'ingest/prepared: identifierLengthMax',
	'message_log.other_patient': 'ingest/prepared: identifierLengthMax',
	'message_log.outcome': 'a closed list',
	'message_log.surface': 'a closed list',
	'patient_identifier.value': 'record/identity/identifier-key: isIndexable',
	'patient_identifier.system': 'record/identity/identifier-key: isIndexable',
	'authority_alias.system': 'record/identity/learn: isIndexable; administration',
	'authority_alias.other': 'record/identity/learn: isIndexable; administration',
	'patient.gender': 'indexText',
	'diagnostic_report.study_uid': 'isObjectUid',
	'diagnostic_report.accession_number': 'indexText',
	'diagnostic_report.filler_number': 'indexText',
	'*.code_value': 'indexText',
	'*.code_further': 'indexText',
	'*.clinical_status': 'indexText',
	'*.status': 'indexText, or a closed list',
	'*.resource_type': 'a closed list',
	'*.sop_instance_uid': 'isUid',
	'*.study_uid': 'isUid',
	'*.series_uid': 'isUid',
	'imaging_conflict.digest': 'a digest',
	'imaging_study.accession_number': 'dicom/scanner: filingBytesMax',
	'imaging_study.modalities': 'dicom/scanner: filingBytesMax',
	'imaging_study.sop_classes': 'isUid',
	'imaging_study.stated_patient_id': 'dicom/scanner: filingBytesMax',
	'written_imaging_study.accession_number': 'indexText',
	'written_imaging_study.identifiers': 'indexText',
	'written_imaging_study.series_uids': 'indexText',
	'written_imaging_study.instance_uids': 'indexText',
	'written_imaging_study.modalities': 'indexText',
	'written_imaging_study.sop_classes': 'indexText',
	'study_edit.other_study_uid': 'isUid',
	'mpps_session.accession_number': 'indexText',
	'mpps_session.patient_id': 'indexText',
	'commitment_request.calling_ae': 'an AE title has 16 characters',
	'commitment_request.transaction_uid': 'isUid',
	// What people enter; a form that is too long is refused before, or as a value that cannot be stored.
	'api_key.id': 'made by the service',
	'feed_hour.feed': 'made by the service, or token: and access/tokens/issuer: clientIdMax',
	'feed_queue.feed': 'made by the service, or token: and access/tokens/issuer: clientIdMax',
	'audit_event.actor': 'made by the service, an AE title, app_user.email, or access/tokens/issuer: clientIdMax',
	'alert.key': 'the name of a rule, and labels of metrics, which are bounded',
	'retention_run.state': 'a closed list',
	'notification_delivery.phase': 'a closed list',
	'saved_filter.owner': 'app_user.email',
	'saved_filter.screen': 'administration: 64 characters',
	'saved_filter.name': 'administration: 60 characters',
	'app_user.email': 'administration',
	'app_user.provider_issuer': 'configuration',
	'app_user.provider_subject': 'readIdentity: 255 characters',
	'sign_in_group.name': 'administration',
	'audit_forwarded.receiver': 'configuration',
	'audit_forwarder.receiver': 'configuration',
	'integration_client.name': 'administration',
	'remote_ae.title': 'administration',
	'site.slug': 'administration',
	'site.ae_title': 'administration',
	'site_definition.kind': 'a closed list',
	'site_definition.url': 'administration',
	'site_definition.version': 'administration',
	'sign_in_failure.kind': 'a closed list',
};

/** `table.column` of every text in an index; an index of grams holds pieces of three characters. */
function indexedTexts(schema: string): Set<string> {
	const texts = new Set<string>();
	const found = new Set<string>();
	const keys: [table: string, columns: string][] = [];
	for (const [, table = '', body = ''] of schema.matchAll(/^create table (\w+) \(\n([\s\S]*?)\n\)/gm)) {
		for (const [, column] of body.matchAll(/^\t(\w+) text\b/gm)) texts.add(`${table}.${column}`);
		for (const [, columns = ''] of body.matchAll(/^\t(?:PRIMARY KEY|UNIQUE) \((.*)\)/gm)) keys.push([table, columns]);
	}
	for (const [, table = '', columns = ''] of schema.matchAll(
		/^CREATE .*INDEX \w+ ON (?:ONLY )?public\.(\w+) USING \w+ \((.*?)\)(?: WHERE .*| WITH .*)?;$/gm,
	)) {
		keys.push([table, columns]);
	}
	for (const [table, columns] of keys) {
		for (const column of columns.replaceAll(/tributary_grams\(.*?\)/g, 'grams').split(', ')) {
			const name = `${table}.${/\w+/.exec(column)?.[0]}`;
			if (texts.has(name)) found.add(name);
		}
	}
	return found;
}

test('every text in an index has a bound, so that no value of a sender is too long for it', () => {
	const indexed = indexedTexts(readFileSync(join(import.meta.dirname, 'schema.sql'), 'utf8'));
	const isBound = (name: string) => bounds[name] !== undefined || bounds[name.replace(/^\w+/, '*')] !== undefined;
	assert.deepEqual(
		[...indexed].filter((name) => !isBound(name)),
		[],
		'say in this table who bounds it',
	);
	const used = new Set([...indexed].flatMap((name) => [name, name.replace(/^\w+/, '*')]));
	assert.deepEqual(
		Object.keys(bounds).filter((name) => !used.has(name)),
		[],
		'is in no index any more',
	);
});
