import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addProfiles, findProfiles, listProfiles, removeProfiles, showProfile } from '#administration/profiles.ts';
import { addSite } from '#administration/sites.ts';
import { administeredAt, audited, refused, withSite } from '#test/support/administration.ts';
import { fhirPackage } from '#test/support/fhir-package.ts';

const profile = (name: string, more: object = {}) => ({
	resourceType: 'StructureDefinition',
	url: `urn:profile:${name}`,
	version: '1',
	name,
	type: 'Patient',
	derivation: 'constraint',
	baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
	differential: { element: [{ id: 'Patient.birthDate', path: 'Patient.birthDate', min: 1 }] },
	...more,
});
const fileOf = (content: object | Buffer) => (Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content))).toString('base64');
const valueSet = {
	resourceType: 'ValueSet',
	url: 'urn:vs',
	name: 'VS',
	compose: { include: [{ system: 'urn:s', concept: [{ code: 'a' }] }] },
};
const logical = { resourceType: 'StructureDefinition', url: 'urn:l', name: 'L', type: 'L', derivation: 'specialization' };

describe('profiles', () => {
	test('are loaded, listed, shown and removed, each with its audit event', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const [added, event] = await audited(administration, () => addProfiles(context, { site: 'west', file: fileOf(profile('one')) }));
			assert.deepEqual(added, { site: 'west', package: '', added: 1, passed_over: [] });
			assert.deepEqual([event.action, event.subject, event.site], ['profile.add', 'urn:profile:one', 'west']);
			const [listed] = await listProfiles(context, { limit: 10 });
			assert.ok(listed);
			const { id, bytes, ...rest } = listed;
			assert.ok(bytes > 50);
			const about = { kind: 'StructureDefinition', url: 'urn:profile:one', version: '1', name: 'one', type: 'Patient', package: '' };
			assert.deepEqual(rest, { site: 'west', ...about, created_at: administeredAt });
			const found = await findProfiles(context, { profile: 'urn:profile:one|1', site: 'west' });
			const shown = await showProfile(found?.found ?? []);
			assert.deepEqual((shown.content as { elements: object[] }).elements, [{ id: 'Patient.birthDate', min: 1 }]);
			const [removed, removal] = await audited(administration, () => removeProfiles(context, { profile: id }, found?.found ?? []));
			assert.deepEqual([removed, removal.action, removal.site], [{ site: 'west', removed: 1 }, 'profile.remove', 'west']);
			assert.deepEqual(await listProfiles(context, { limit: 10 }), []);
			assert.equal(await findProfiles(context, { profile: id }), null);
		}));

	test('of a package belong together; the same URL and version is replaced', () =>
		withSite(async (administration) => {
			const { context } = administration;
			const package1 = fhirPackage({
				'package/StructureDefinition-one.json': profile('one'),
				'package/ValueSet-vs.json': valueSet,
				'package/StructureDefinition-l.json': logical,
			});
			await addProfiles(context, { site: 'west', file: fileOf(profile('one', { name: 'earlier' })) });
			const added = await addProfiles(context, { site: 'west', file: fileOf(package1) });
			assert.deepEqual(
				[added.package, added.added, added.passed_over.map(({ file }) => file)],
				['example.fhir.profiles#1.0.0', 2, ['StructureDefinition-l.json']],
			);
			assert.deepEqual(
				(await listProfiles(context, { limit: 10 })).map(({ kind, name }) => `${kind} ${name}`),
				['ValueSet VS', 'StructureDefinition one'],
			);
			assert.equal((await listProfiles(context, { limit: 10, kind: 'ValueSet' })).length, 1);
			const found = await findProfiles(context, { profile: 'example.fhir.profiles', site: 'west' });
			assert.equal(found?.found.length, 2);
			await refused(administration, () => showProfile(found?.found ?? []), /2 definitions have this name/);
			assert.deepEqual(await removeProfiles(context, { profile: 'example.fhir.profiles' }, found?.found ?? []), {
				site: 'west',
				removed: 2,
			});
		}));

	test('that are none, or too many, or of another site, are refused', () =>
		withSite(async (administration) => {
			const { context } = administration;
			await addSite(context, { slug: 'east', name: 'East' });
			await addProfiles(context, { site: 'west', file: fileOf(profile('one')) });
			assert.equal(await findProfiles(context, { profile: 'urn:profile:one', site: 'east' }), null);
			assert.deepEqual(await listProfiles({ ...context, visibleSites: ['east'] }, { limit: 10 }), []);
			await refused(administration, () => findProfiles(context, { profile: 'urn:profile:one' }), /by its URL or package and its site/);
			const add = (content: object | Buffer, limits: object = {}) =>
				addProfiles({ ...context, limits: { ...context.limits, ...limits } }, { site: 'west', file: fileOf(content) });
			await refused(administration, () => add({ resourceType: 'Patient' }), /StructureDefinition, ValueSet or CodeSystem/);
			await refused(administration, () => add(Buffer.from('{')), /./);
			await refused(administration, () => add(logical), /derivation is constraint/);
			await refused(administration, () => add(fhirPackage({})), /no profile, value set or code system/);
			await refused(administration, () => add(profile('two'), { profilesMax: 1 }), /at most 1 definitions/);
			await refused(administration, () => add(profile('two'), { profileBytesMax: 100 }), /at most 100 bytes/);
			await refused(
				administration,
				() => add(fhirPackage({ 'package/x.json': { text: 'x'.repeat(3000) } }), { packageBytesMax: 2000 }),
				/unpacked/,
			);
			await refused(administration, () => add(profile('x'.repeat(501))), /at most 500 characters/);
			assert.equal((await add(profile('one'), { profilesMax: 1 })).added, 1);
		}));
});
