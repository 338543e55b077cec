import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { addClient } from '#administration/clients.ts';
import { setSite } from '#administration/sites.ts';
import { part10Head } from '#dicom/part10.ts';
import { explicitBigEndian, implicitLittleEndian } from '#dicom/transfer-syntax.ts';
import { ctStorage, element } from '#test/support/data-set.ts';
import { run, temporaryFolder } from '#test/support/dcmtk.ts';
import { needs, without } from '#test/support/needs.ts';
import { testService } from '#test/support/service.ts';

const study = '1.2.826.0.1.3680043.8.498.9';
const name = 'Yamada^Tarou=山田^太郎=やまだ^たろう';
const pixels = Buffer.from([1, 0, 2, 0, 3, 0, 255, 254]);

/** A CT in big endian whose names are in UTF-8. */
function bigEndian(): Buffer {
	const writing = { explicit: true, littleEndian: false };
	const utf8 = Buffer.from(name);
	return Buffer.concat([
		element(0x0008_0005, 'CS', 'ISO_IR 192', writing),
		element(0x0008_0016, 'UI', ctStorage, writing),
		element(0x0008_0018, 'UI', `${study}.1.1`, writing),
		element(0x0008_0060, 'CS', 'CT', writing),
		element(0x0010_0010, 'PN', utf8.length % 2 === 0 ? utf8 : Buffer.concat([utf8, Buffer.from(' ')]), writing),
		element(0x0010_0020, 'LO', 'P1', writing),
		element(0x0020_000d, 'UI', study, writing),
		element(0x0020_000e, 'UI', `${study}.1`, writing),
		element(0x0028_0010, 'US', 2, writing),
		element(0x0028_0011, 'US', 2, writing),
		element(0x0028_0100, 'US', 16, writing),
		element(0x7fe0_0010, 'OW', Buffer.from(pixels).swap16(), writing),
	]);
}

test('pynetdicom stores in big endian, finds by ideograms, and is given implicit VR', { skip: without('pynetdicom') }, async () => {
	await using service = await testService();
	using folder = temporaryFolder();
	await service.addSite('west');
	await setSite(service.administration, { slug: 'west', ae_title: 'WEST' });
	const client = { site: 'west', name: 'pynetdicom', protocols: ['dicom' as const], allowed_ips: ['127.0.0.1'] };
	await addClient(service.administration, { ...client, grants: ['query'] });
	const path = join(folder.path, 'image.dcm');
	const head = part10Head({ sopClassUid: ctStorage, sopInstanceUid: `${study}.1.1`, transferSyntaxUid: explicitBigEndian });
	writeFileSync(path, Buffer.concat([head, bigEndian()]));
	const script = join(import.meta.dirname, '../support/pynetdicom-peer.py');
	const { code, output } = await run(
		needs.pynetdicom.found ?? 'python3',
		'-W',
		'ignore',
		script,
		String(service.port('dimse')),
		path,
		study,
	);
	assert.equal(code, 0, output);
	assert.deepEqual(JSON.parse(output), {
		echo: 0,
		store: 0,
		find: [
			[0xff00, name],
			[0, null],
		],
		get: 0,
		received: [[implicitLittleEndian, name, 2, pixels.toString('hex')]],
	});
});
